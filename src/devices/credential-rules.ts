/**
 * Judges the user name, password and label that people choose for a device.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { MAX_LABEL_LENGTH, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../core/limits.ts'

// Shorter than a device id, so the two cannot be confused.
const USERNAME = /^[A-Za-z][A-Za-z0-9_]{5,31}$/

// Controls (which Basic authentication forbids, RFC 7617 section 2), halves of surrogate pairs, and
// the line separators that some terminals and parsers obey. All else may be in a password; labels
// are made visible where they are printed.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

/** Whether a text may be a user name. */
export function isUsername(username: string): boolean {
  return USERNAME.test(username)
}

/**
 * Checks a user name.
 *
 * @throws {DomainError} `USERNAME_INVALID`.
 */
export function checkUsername(username: string): void {
  if (isUsername(username)) return
  throw new DomainError(
    'USERNAME_INVALID',
    'Cannot use the user name: it needs 6 to 32 letters, digits and underscores, a letter first',
  )
}

/**
 * Checks a password.
 *
 * @throws {DomainError} `PASSWORD_INVALID`; its message is without the password.
 */
export function checkPassword(password: string): void {
  const length = countCharacters(password)
  const fits = length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH
  if (fits && !UNPRINTABLE.test(password)) return
  const needs = `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} printable characters`
  throw new DomainError('PASSWORD_INVALID', `Cannot use the password: it needs ${needs}`)
}

/** Whether a label is as {@link parseLabel} returns it. */
export function isLabel(label: string): boolean {
  const length = countCharacters(label)
  const fits = length >= 1 && length <= MAX_LABEL_LENGTH
  return fits && label === label.trim() && !UNPRINTABLE.test(label)
}

/**
 * The label without surrounding white space.
 *
 * @throws {DomainError} `LABEL_INVALID`.
 */
export function parseLabel(label: string): string {
  const trimmed = label.trim()
  if (isLabel(trimmed)) return trimmed
  const needs = `1 to ${MAX_LABEL_LENGTH} printable characters`
  throw new DomainError('LABEL_INVALID', `Cannot use the label: it needs ${needs}`)
}

/** Whether `text` has more than `max` characters; cheap for texts of any length. */
export function isLongerThan(text: string, max: number): boolean {
  // A character is one or two code units.
  if (text.length <= max) return false
  return text.length > 2 * max || countCharacters(text) > max
}

/** Counts code points, so that an emoji of one code point is one character. */
function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
