/**
 * When an item was copied or pushed, in an order that all members of a circle agree on.
 *
 * The member where it happened gives the stamp, once; it travels with the item. Times are of the
 * clock of that member, but never before the stamp of the item that was current there: whatever
 * somebody has seen, they can replace, also when clocks disagree by a day.
 *
 * A stamp that is further ahead than any clock can be would win for ever. So nobody believes it:
 * it counts as older than all others, on each member alike.
 * @module
 */

/** The order is that of `at`, then that of `member`. */
export interface Stamp {
  /** Unix milliseconds, or later. */
  readonly at: number
  /** The member that gave it; breaks ties. */
  readonly member: string
}

/** Whether a stamp may have this time, by the clock of this member as it is now. */
export type Believes = (at: number) => boolean

const MEMBER_ID = /^m_[0-9a-f]{16}$/

/** The year 5138: 14 digits. What can be written is far more than what is believed. */
const LAST = 100_000_000_000_000

/** Whether `at` and `member` make a stamp. Says nothing of whether to believe it. */
export function isStamp(stamp: { readonly at: unknown; readonly member: unknown }): stamp is Stamp {
  const { at, member } = stamp
  if (typeof member !== 'string' || !MEMBER_ID.test(member)) return false
  return typeof at === 'number' && Number.isSafeInteger(at) && at >= 0 && at <= LAST
}

/** Negative when `a` is older than `b`, 0 when they are the same. */
export function compareStamps(a: Stamp, b: Stamp): number {
  if (a.at !== b.at) return a.at - b.at
  return a.member < b.member ? -1 : Number(a.member > b.member)
}

/** The place of an item in the order. */
export interface Place {
  readonly stamp: Stamp
  /** Decides between items of one stamp; absent where an earlier version tells a place. */
  readonly rank?: string | undefined
}

/** Compares places of items that may be absent: an absent one is before any other. */
export function comparePlaces(a: Place | undefined, b: Place | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const order = compareStamps(a.stamp, b.stamp)
  if (order !== 0 || a.rank === undefined || b.rank === undefined) return order
  return a.rank < b.rank ? -1 : Number(a.rank > b.rank)
}

/** The stamp, or one that is older than all, and the same everywhere, when it is not believed. */
export function believedStamp(stamp: Stamp, believes: Believes): Stamp {
  return believes(stamp.at) ? stamp : { at: 0, member: stamp.member }
}

/** The stamp of an item, as far as it is believed; of one without, when it became current here. */
export function stampOf(
  { stamp, activatedAt = 0 }: { readonly stamp?: Stamp | undefined; readonly activatedAt?: number },
  believes: Believes,
): Stamp {
  return believedStamp(stamp ?? { at: activatedAt, member: '' }, believes)
}

/** A stamp for what `member` does `now`, after all that it knows of and believes. */
export function stampAfter(known: Stamp | undefined, now: number, member: string): Stamp {
  // Also where the clock of this machine says that it is the year 6000, the next one is a stamp.
  const at = Math.min(Math.max(0, Math.floor(now)), LAST - 1)
  return { at: known === undefined ? at : Math.max(at, known.at + 1), member }
}
