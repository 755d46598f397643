/**
 * The time of a circle: that of the clock among its members that is furthest ahead.
 *
 * A circle is the daemons that share one clipboard, because they have joined each other or have the
 * same key. People call it a group; in the code a group is an item of several files.
 *
 * Members tell it to each other with each request and answer, and nobody corrects it downwards: it
 * serves to put what happened apart in order, and is never shown as a time of day.
 * @module
 */

/** The header field in which members tell it, in Unix milliseconds. */
export const CIRCLE_TIME_HEADER = 'X-Clipgate-Time'

/**
 * How far ahead of the own clock a member may be and be believed: further than any battery that
 * ran out sets a clock back, and near enough that nobody can put the circle out of the range of
 * stamps. A board that begins in 1970 until it is online is left as it is.
 */
export const MAX_AHEAD_MS: number = 10 * 366 * 86_400_000

/**
 * Members whose clocks differ by this much still take each other's stamps, when the circle is as
 * far ahead as it can be: each of them is that far ahead of its own clock.
 */
export const MAX_APART_MS: number = 30 * 86_400_000

/** A clock that shows a time before 2026 is wrong: this program did not exist. */
const EARLIEST = 1_767_225_600_000

/** A later time is that of a broken clock; stamps end in the year 5138. */
const LATEST = 99_999_999_999_999

/**
 * Whether a stamp may have this time. No member stamps later than its circle time, so no honest
 * stamp is further ahead; a clock that is decades behind counts as one that begins with this
 * program.
 *
 * @param clock What the clock of this machine says, in Unix milliseconds.
 */
export function isBelievable(at: number, clock: number): boolean {
  return at <= Math.min(Math.max(clock, EARLIEST) + MAX_AHEAD_MS + MAX_APART_MS, LATEST)
}

/** 14 digits end in the year 5138. */
const TIME = /^(?:0|[1-9][0-9]{0,13})$/

/** The time in a header field; `undefined` when the field holds none. */
export function parseCircleTime(text: unknown): number | undefined {
  return typeof text === 'string' && TIME.test(text) ? Number(text) : undefined
}

/** @param at Unix milliseconds. */
export function formatCircleTime(at: number): string {
  return String(Math.max(0, Math.floor(at)))
}
