/**
 * Gets the latest item that others have announced: one at a time, and of two always the later one.
 * @module
 */

import { compareOptional, type Stamp } from '../../core/stamp.ts'
import { NewestTransfer } from '../newest-transfer.ts'
import { isTooLarge } from '../pull-item.ts'
import { Offer, type PullOfferDeps } from './pull-offer.ts'
import type { SignalItem } from './signal.ts'

export type PullOptions = Pick<PullOfferDeps, 'signal' | 'onStamp' | 'onTrouble'>

/** How items are pulled, and who hears of it. */
export interface OfferPullerDeps {
  readonly pull: (offer: Offer, options: PullOptions) => Promise<void>
  /** The stamp of the current item. */
  readonly stamp: () => Stamp | undefined
  /** Called when an item could not be had, with the number of failures in a row. */
  readonly onFailure: (failures: number) => void
  /** A source broke off. */
  readonly onTrouble: () => void
  /** Called when `error` is another. */
  readonly onError: (error: string | undefined) => void
}

/** Gets the items of offers. */
export class OfferPuller {
  readonly #deps: OfferPullerDeps
  readonly #transfer: NewestTransfer<Offer>
  /** The latest item that others have and we do not. */
  #newest: Offer | undefined
  /** The stamp of the last item that came from here. */
  #pulled: Stamp | undefined
  /** The stamp of an item that is larger than what is taken here: it is not asked for again. */
  #refused: Stamp | undefined
  #failures = 0

  constructor(deps: OfferPullerDeps) {
    this.#deps = deps
    const { onTrouble, onError } = deps
    const onStamp = (stamp: Stamp): void => {
      this.#pulled = stamp
    }
    this.#transfer = new NewestTransfer({
      next: () => this.#next(),
      isOutdated: (offer) => this.#isOutdated(offer),
      move: (offer, signal) => deps.pull(offer, { signal, onStamp, onTrouble }),
      onSuccess: () => this.#onSuccess(),
      onFailure: (error, offer) => this.#onFailure(error, offer),
      onError,
    })
  }

  /** Why the last item could not be had; `undefined` once one came. */
  get error(): string | undefined {
    return this.#transfer.error
  }

  /** Whether the item of this stamp came from here. */
  hasPulled(stamp: Stamp | undefined): boolean {
    return stamp !== undefined && compareOptional(stamp, this.#pulled) === 0
  }

  /** Takes up that a member has an item that is later than the current one. */
  offer({ stamp, contentId }: SignalItem, url: string): void {
    if (this.#refused !== undefined && compareOptional(stamp, this.#refused) === 0) return
    const order = compareOptional(stamp, this.#newest?.stamp)
    if (order < 0) return
    if (order > 0) this.#newest = new Offer(stamp, contentId)
    this.#newest?.add(url)
    this.#transfer.request()
  }

  /** Takes up that the current item is another. */
  onItem(): void {
    this.#transfer.request()
  }

  /** Gives up what is under way, and waits until it has ended. */
  close(): Promise<void> {
    return this.#transfer.close(new Error('The bus was closed'))
  }

  #next(): Offer | undefined {
    const isLate = compareOptional(this.#newest?.stamp, this.#deps.stamp()) > 0
    if (!isLate) this.#newest = undefined
    return this.#newest
  }

  #isOutdated(offer: Offer): boolean {
    // An older offer with the same content gives the same bytes as the newest.
    if (this.#newest !== undefined && this.#newest.contentId !== offer.contentId) return true
    const current = this.#deps.stamp()
    return !this.hasPulled(current) && compareOptional(offer.stamp, current) <= 0
  }

  #onSuccess(): void {
    this.#failures = 0
    this.#transfer.request()
  }

  #onFailure(error: unknown, offer: Offer): void {
    if (this.#newest === offer) this.#newest = undefined
    this.#transfer.request()
    if (isTooLarge(error)) {
      this.#refused = offer.stamp
      return
    }
    this.#failures += 1
    this.#deps.onFailure(this.#failures)
  }
}
