/**
 * Mints what a person did not choose.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { DomainError } from '../core/domain-error.ts'
import type { Device, DeviceKind, NewDevice } from '../ports/device-registry.ts'
import { checkPassword, checkUsername, parseLabel } from './credential-rules.ts'

const USERNAME_PREFIX: Readonly<Record<DeviceKind, string>> = { phone: 'mobile_', peer: 'peer_' }
const LABEL: Readonly<Record<DeviceKind, string>> = { phone: 'Phone', peer: 'Peer' }

/** The names of a device. */
export interface DeviceNames {
  readonly label: string
  readonly username: string
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
export function chooseNames(wanted: NewDevice, existing: readonly Device[]): DeviceNames {
  const { kind, label, username } = wanted
  if (username !== undefined) checkFree(username, existing)
  return {
    label: label === undefined ? mintLabel(kind, existing) : parseLabel(label),
    username: username ?? mintUsername(kind, existing),
  }
}

function checkFree(username: string, existing: readonly Device[]): void {
  checkUsername(username)
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
