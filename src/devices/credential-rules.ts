/**
 * Judges the user name, password and label that people choose for a device, and mints the others.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { DomainError } from '../core/domain-error.ts'
import { MAX_LABEL_LENGTH, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../core/limits.ts'
import type { Device, DeviceKind, NewDevice } from '../ports/device-registry.ts'

// Shorter than a device id, so the two cannot be confused.
const USERNAME = /^[A-Za-z][A-Za-z0-9_]{5,31}$/

// Controls (which Basic authentication forbids, RFC 7617 section 2), halves of surrogate pairs, and
// the line separators that some terminals and parsers obey. All else may be in a password; labels
// are made visible where they are printed.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

const USERNAME_PREFIX: Readonly<Record<DeviceKind, string>> = { phone: 'mobile_', peer: 'peer_' }
const LABEL: Readonly<Record<DeviceKind, string>> = { phone: 'Phone', peer: 'Peer' }

/** Whether a text may be a user name. */
export function isUsername(username: string): boolean {
  return USERNAME.test(username)
}

/** Whether a text may be a label: it has no surrounding white space. */
export function isLabel(label: string): boolean {
  const length = countCharacters(label)
  const fits = length >= 1 && length <= MAX_LABEL_LENGTH
  return fits && label === label.trim() && !UNPRINTABLE.test(label)
}

/** Whether `text` has more than `max` characters; cheap for texts of any length. */
export function isLongerThan(text: string, max: number): boolean {
  // A character is one or two code units.
  if (text.length <= max) return false
  return text.length > 2 * max || countCharacters(text) > max
}

/** `did_` and 32 hex digits. */
export function mintDeviceId(): string {
  return `did_${randomBytes(16).toString('hex')}`
}

/**
 * The password asked for, or one of 22 characters.
 *
 * @throws {DomainError} `PASSWORD_INVALID`.
 */
export function choosePassword(wanted: string | undefined): string {
  if (wanted === undefined) return randomBytes(16).toString('base64url')
  checkPassword(wanted)
  return wanted
}

/**
 * The names asked for, or minted ones that no other device has.
 *
 * User names that differ only in letter case are refused, since people and phone keyboards confuse
 * them; a login is still compared exactly.
 *
 * @throws {DomainError} `USERNAME_INVALID`, `USERNAME_TAKEN`, `LABEL_INVALID`.
 */
export function chooseNames(
  wanted: NewDevice,
  existing: readonly Device[],
): Pick<Device, 'label' | 'username'> {
  const { kind, label, username } = wanted
  if (username !== undefined) checkUsername(username, existing)
  return {
    label: label === undefined ? mintLabel(kind, existing) : parseLabel(label),
    username: username ?? mintUsername(kind, existing),
  }
}

function checkPassword(password: string): void {
  const length = countCharacters(password)
  const fits = length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH
  if (fits && !UNPRINTABLE.test(password)) return
  // The message is without the password.
  const needs = `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} printable characters`
  throw new DomainError('PASSWORD_INVALID', `Cannot use the password: it needs ${needs}`)
}

function parseLabel(label: string): string {
  const trimmed = label.trim()
  if (isLabel(trimmed)) return trimmed
  const needs = `1 to ${MAX_LABEL_LENGTH} printable characters`
  throw new DomainError('LABEL_INVALID', `Cannot use the label: it needs ${needs}`)
}

function checkUsername(username: string, existing: readonly Device[]): void {
  if (!isUsername(username)) {
    throw new DomainError(
      'USERNAME_INVALID',
      'Cannot use the user name: it needs 6 to 32 letters, digits and underscores, a letter first',
    )
  }
  if (!isTaken(username, existing)) return
  throw new DomainError('USERNAME_TAKEN', `Cannot use the user name "${username}": a device has it`)
}

function mintUsername(kind: DeviceKind, existing: readonly Device[]): string {
  const username = USERNAME_PREFIX[kind] + randomBytes(4).toString('hex')
  return isTaken(username, existing) ? mintUsername(kind, existing) : username
}

function isTaken(username: string, existing: readonly Device[]): boolean {
  const folded = username.toLowerCase()
  return existing.some((device) => device.username.toLowerCase() === folded)
}

/** `Phone`, `Phone 2`, and so on. */
function mintLabel(kind: DeviceKind, existing: readonly Device[]): string {
  const taken = new Set(existing.map(({ label }) => label))
  let label = LABEL[kind]
  for (let number = 2; taken.has(label); number++) label = `${LABEL[kind]} ${number}`
  return label
}

/** Counts code points, so that an emoji of one code point is one character. */
function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
