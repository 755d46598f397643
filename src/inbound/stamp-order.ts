/** Tells which item is newer: in a circle by stamps, at a start by what was replaced. @module */

import { DomainError } from '../core/domain-error.ts'
import type { Item } from '../core/item.ts'
import { comparePlaces, stampAfter, stampOf, type Stamp } from '../core/stamp.ts'
import { placeOf } from '../hashing/place-of.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { Origin } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'

/** This daemon as a member of its circle. */
export interface Member extends CircleTime {
  readonly id: string
}

interface StampOrderDeps {
  readonly latest: Pick<LatestItem, 'current'>
  readonly member?: Member | undefined
}

/** The order of the stamps at one daemon. */
export class StampOrder {
  readonly #deps: StampOrderDeps
  /** No stamp is given twice, also not to what is not current yet. */
  #last = 0

  constructor(deps: StampOrderDeps) {
    this.#deps = deps
  }

  /** Keeps out what would win for ever. @throws {DomainError} `STAMP_AHEAD`. */
  check(origin: Origin): void {
    if (origin.kind !== 'peer' || this.#believes(origin.stamp.at)) return
    const message = 'Cannot apply the item: its stamp is too far ahead of the clock'
    throw new DomainError('STAMP_AHEAD', message)
  }

  /**
   * Whether what is current here happened after what a peer offers, or is that; or happened after
   * what was copied, or has replaced what was found on the clipboard.
   *
   * @param hash SHA-256 of the bytes that are offered, in hex; empty when nobody has said it.
   */
  isOutdated(origin: Origin, offered: Pick<Item, 'type' | 'dataName'>, hash: string): boolean {
    const current = this.#deps.latest.current?.item
    if (current === undefined || origin.kind === 'device') return false
    if (origin.kind === 'clipboard') {
      const { copiedAt = Infinity, mayBeOld } = origin
      const isReplaced = mayBeOld?.(current) && current.replaced?.includes(hash)
      return isReplaced || stampOf(current, this.#believes).at > copiedAt
    }
    const there = placeOf({ ...offered, stamp: origin.stamp }, hash, this.#believes)
    return comparePlaces(there, placeOf(current, current.contentHash, this.#believes)) <= 0
  }

  /**
   * The stamp of what becomes current now, or is copied: after all that happened, whatever clocks
   * were set since; `undefined` where there is no circle.
   */
  stampFor(origin: Origin): Stamp | undefined {
    const { latest, member } = this.#deps
    if (origin.kind === 'peer') {
      // Else those who never hear of this item would stamp what they copy later before it.
      member?.learn(origin.stamp.at)
      return origin.stamp
    }
    if (member === undefined) return undefined
    const current = latest.current?.item
    const next = this.#believes(this.#last) ? this.#last + 1 : 0
    const at = (origin.kind === 'clipboard' && origin.copiedAt) || Math.max(next, member.now())
    const stamp = stampAfter(current && stampOf(current, this.#believes), at, member.id)
    this.#last = Math.max(next, stamp.at)
    return stamp
  }

  readonly #believes = (at: number): boolean => this.#deps.member?.believes(at) ?? true
}
