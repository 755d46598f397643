/**
 * When an item was copied or pushed, in an order that all members of a group agree on.
 *
 * The member where it happened gives the stamp, once; it travels with the item. Times are of the
 * clock of that member, but never before the stamp of the item that was current there: whatever
 * somebody has seen, they can replace, also when clocks disagree by a day.
 *
 * @module
 */

/** The order is that of `at`, then that of `member`. */
export interface Stamp {
  /** Unix milliseconds, or later. */
  readonly at: number
  /** The member that gave it; breaks ties. */
  readonly member: string
}

const MEMBER_ID = /^m_[0-9a-f]{16}$/

/** The year 5138. Leaves room for all that can follow, and none for clocks that went mad. */
const LAST = 100_000_000_000_000

/** Whether `at` and `member` make a stamp. */
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

/** The same where there may be no item: nothing is older than anything. */
export function compareOptional(a: Stamp | undefined, b: Stamp | undefined): number {
  if (a !== undefined && b !== undefined) return compareStamps(a, b)
  return Number(a !== undefined) - Number(b !== undefined)
}

/** The stamp of an item; of one without, the time at which it became current here. */
export function stampOf(item: { readonly stamp?: Stamp | undefined; readonly activatedAt: number }): Stamp {
  return item.stamp ?? { at: item.activatedAt, member: '' }
}

/** A stamp for what `member` does `now`, after all that it knows of. */
export function stampAfter(known: Stamp | undefined, now: number, member: string): Stamp {
  const next = known === undefined ? now : Math.max(now, known.at + 1)
  return { at: Math.min(Math.max(0, Math.floor(next)), LAST), member }
}
