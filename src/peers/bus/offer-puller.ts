/**
 * Gets the latest item that others have announced: one at a time, and of two always the later one.
 * @module
 */

import { comparePlaces, type Place } from '../../core/stamp.ts'
import { NewestTransfer } from '../newest-transfer.ts'
import { isUnfit } from '../pull-item.ts'
import { Offer, type PullOfferDeps } from './pull-offer.ts'
import type { SignalItem } from './signal.ts'

export type PullOptions = Pick<PullOfferDeps, 'signal' | 'onPlace' | 'onTrouble'>

/** How items are pulled, and who hears of it. */
export interface OfferPullerDeps {
  readonly pull: (offer: Offer, options: PullOptions) => Promise<void>
  /** The place of the current item. */
  readonly place: () => Place | undefined
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
  /** The place of the last item that came from here. */
  #pulled: Place | undefined
  /** The place of an item that is not taken here: it is not asked for again. */
  #refused: Place | undefined

  constructor(deps: OfferPullerDeps) {
    this.#deps = deps
    const { onTrouble, onError } = deps
    const onPlace = (place: Place): void => {
      this.#pulled = place
    }
    this.#transfer = new NewestTransfer({
      next: () => this.#next(),
      isOutdated: (offer) => this.#isOutdated(offer),
      move: (offer, signal) => deps.pull(offer, { signal, onPlace, onTrouble }),
      onSuccess: (offer) => this.#end(offer),
      onFailure: (error, offer, failures) => {
        this.#end(offer)
        if (isUnfit(error)) this.#refused = offer.item
        else deps.onFailure(failures)
      },
      onError,
    })
  }

  /** Why the last item could not be had; `undefined` once one came. */
  get error(): string | undefined {
    return this.#transfer.error
  }

  /** Whether the item of this place came from here. */
  hasPulled(place: Place | undefined): boolean {
    return place !== undefined && comparePlaces(place, this.#pulled) === 0
  }

  /** Takes up that a member has an item that is later than the current one. */
  offer(item: SignalItem, url: string): void {
    if (comparePlaces(item, this.#refused) === 0) return
    const order = comparePlaces(item, this.#newest?.item)
    if (order < 0) return
    if (order > 0) this.#newest = new Offer(item)
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
    const isLate = comparePlaces(this.#newest?.item, this.#deps.place()) > 0
    if (!isLate) this.#newest = undefined
    return this.#newest
  }

  #isOutdated({ item }: Offer): boolean {
    // An older offer with the same content gives the same bytes as the newest.
    if (this.#newest !== undefined && this.#newest.item.contentId !== item.contentId) return true
    const current = this.#deps.place()
    return !this.hasPulled(current) && comparePlaces(item, current) <= 0
  }

  /** Goes on to what has come since; also where the item is called otherwise here than there. */
  #end(offer: Offer): void {
    if (this.#newest === offer) this.#newest = undefined
    this.#transfer.request()
  }
}
