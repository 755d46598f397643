/**
 * The one secret of a circle, and what is derived from it.
 *
 * Everything that members have in common comes from the key by HKDF: the name of their subject, the
 * credential by which they read from each other, and the key that seals their signals. None of
 * these tells anything about another one, or about the key.
 * @module
 */

import { hkdfSync, randomBytes } from 'node:crypto'

/** Its name in the data directory. */
export const CIRCLE_KEY_FILE = 'group.key'

const PREFIX = 'clipgate-group-key-1:'

const KEY_BYTES = 32

/** Length of the id of a circle: enough that no two circles of one broker meet. */
const ID_BYTES = 8

const CIRCLE_USERNAME = /^group_[0-9a-f]{16}$/

/** The names and secrets that the members of one circle share. Holds secrets: never log one. */
export interface CircleSecrets {
  /** 16 hex digits; no secret. */
  readonly id: string
  /** Where signals are published. */
  readonly subject: string
  /** The credential by which members read from each other. */
  readonly username: string
  readonly password: string
  /** The key that the keys of signals are derived from. */
  readonly signalKey: Uint8Array
}

/** A new key, as one line of text. */
export function mintCircleKey(): string {
  return formatCircleKey(randomBytes(KEY_BYTES))
}

/** Reads the text of a key. @throws {TypeError} saying what is wrong, without quoting the text. */
export function parseCircleKey(text: string): Uint8Array {
  const line = text.trim()
  if (!line.startsWith(PREFIX)) throw new TypeError('it is not a group key of this version')
  const encoded = line.slice(PREFIX.length)
  const key = Buffer.from(encoded, 'base64url')
  // The decoder skips characters that are not base64, so only the one spelling is accepted.
  if (key.length !== KEY_BYTES || key.toString('base64url') !== encoded) {
    throw new TypeError('it is damaged')
  }
  return key
}

/** The text of a key, as {@link mintCircleKey} gives it. */
export function formatCircleKey(key: Uint8Array): string {
  return `${PREFIX}${Buffer.from(key).toString('base64url')}\n`
}

/** Derives everything that members share from the key of their circle. */
export function deriveSecrets(key: Uint8Array): CircleSecrets {
  const id = derive(key, 'id', ID_BYTES).toString('hex')
  return {
    id,
    subject: `clipgate.${id}`,
    username: `group_${id}`,
    password: derive(key, 'password', KEY_BYTES).toString('base64url'),
    signalKey: derive(key, 'signals', KEY_BYTES),
  }
}

/** Whether a device of this user name is the credential of a circle. */
export function isCircleUsername(username: string): boolean {
  return CIRCLE_USERNAME.test(username)
}

function derive(key: Uint8Array, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `clipgate group 1 ${purpose}`, length))
}
