/**
 * Gets the latest item that others have announced: one at a time, and of two always the later one.
 *
 * @module
 */

import { compareOptional, type Stamp } from '../../core/stamp.ts'
import { messageOf } from '../../lib/describe-failure.ts'
import { isTooLarge } from '../pull-item.ts'
import { Offer } from './offer.ts'
import type { PullOfferDeps } from './pull-offer.ts'
import type { SignalItem } from './signal.ts'

export type PullOptions = Pick<PullOfferDeps, 'signal' | 'onStamp' | 'onTrouble'>

export interface OfferPullerDeps {
  readonly pull: (offer: Offer, options: PullOptions) => Promise<void>
  /** The stamp of the current item. */
  readonly stamp: () => Stamp | undefined
  /** An item could not be had, so many times in a row. */
  readonly onFailure: (failures: number) => void
  /** A source broke off. */
  readonly onTrouble: () => void
  /** Called when `error` is another. */
  readonly onError: (error: string | undefined) => void
}

export class OfferPuller {
  readonly #deps: OfferPullerDeps
  readonly #ending = new AbortController()
  /** The latest item that others have and we do not. */
  #newest: Offer | undefined
  /** What is on its way here. */
  #transfer: { readonly offer: Offer; readonly abort: AbortController } | undefined
  #pulling: Promise<void> | undefined
  #pulled: Stamp | undefined
  /** Of an item that is larger than what is taken here: it is not asked for again. */
  #refused: Stamp | undefined
  #failures = 0
  #error: string | undefined

  constructor(deps: OfferPullerDeps) {
    this.#deps = deps
  }

  /** What went wrong last, while it is not well again. */
  get error(): string | undefined {
    return this.#error
  }

  /** Whether the item of this stamp came from here. */
  hasPulled(stamp: Stamp | undefined): boolean {
    return stamp !== undefined && compareOptional(stamp, this.#pulled) === 0
  }

  /** A member has an item that is later than the current one. */
  offer({ stamp, contentId }: SignalItem, url: string): void {
    if (this.#refused !== undefined && compareOptional(stamp, this.#refused) === 0) return
    const order = compareOptional(stamp, this.#newest?.stamp)
    if (order < 0) return
    if (order > 0) this.#newest = new Offer(stamp, contentId)
    this.#newest?.add(url)
    // What is on its way may have the same bytes.
    if (this.#transfer?.offer.contentId !== contentId) this.#abort(OUTDATED)
    this.#pulling ??= this.#pullAll()
  }

  /** The current item is another. */
  onItem(): void {
    const { offer } = this.#transfer ?? {}
    const isOurs = this.hasPulled(this.#deps.stamp())
    if (isOurs || offer === undefined) return
    if (compareOptional(offer.stamp, this.#deps.stamp()) <= 0) this.#abort(OUTDATED)
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error('The bus was closed'))
    this.#abort(this.#ending.signal.reason)
    await this.#pulling
  }

  #abort(reason: unknown): void {
    this.#transfer?.abort.abort(reason)
  }

  async #pullAll(): Promise<void> {
    // From the next turn on, so that it is known to be under way.
    await Promise.resolve()
    for (let offer = this.#next(); offer !== undefined; offer = this.#next()) {
      const abort = new AbortController()
      this.#transfer = { offer, abort }
      try {
        await this.#deps.pull(offer, {
          signal: abort.signal,
          onStamp: (stamp) => {
            this.#pulled = stamp
          },
          onTrouble: this.#deps.onTrouble,
        })
        this.#failures = 0
        this.#setError(undefined)
      } catch (error) {
        if (!abort.signal.aborted) this.#onFailure(offer, error)
      } finally {
        this.#transfer = undefined
      }
    }
    this.#pulling = undefined
  }

  #next(): Offer | undefined {
    const isLate = compareOptional(this.#newest?.stamp, this.#deps.stamp()) > 0
    if (!isLate) this.#newest = undefined
    return this.#ending.signal.aborted ? undefined : this.#newest
  }

  #onFailure(offer: Offer, error: unknown): void {
    if (this.#newest === offer) this.#newest = undefined
    this.#setError(messageOf(error))
    if (isTooLarge(error)) {
      this.#refused = offer.stamp
      return
    }
    this.#failures += 1
    this.#deps.onFailure(this.#failures)
  }

  #setError(error: string | undefined): void {
    if (error === this.#error) return
    this.#error = error
    this.#deps.onError(error)
  }
}

const OUTDATED = new Error('Something newer is there')
