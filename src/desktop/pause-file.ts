/**
 * A pause, as it is kept over a restart.
 *
 * @module
 */

import { decodeNumber, matching, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import type { Pause } from '../ports/admin.ts'

/** Its file in the data directory. */
export const PAUSE_FILE = 'paused.json'

/** What `Date` can hold. */
const MAX_TIME_MS = 8.64e15

const isTime = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= MAX_TIME_MS

const decodePause: Decoder<Pause> = objectOf({
  untilMs: optional(matching(decodeNumber, isTime, 'a time in Unix milliseconds')),
})

export function formatPause({ untilMs }: Pause): string {
  return `${JSON.stringify({ untilMs: untilMs ?? null })}\n`
}

/** @throws {TypeError} when it is not one. Says nothing of what it is. */
export function parsePause(text: string): Pause {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The message of a SyntaxError quotes the file.
    throw new TypeError('it is not JSON')
  }
  return decodePause(value)
}
