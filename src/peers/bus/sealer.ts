/**
 * Seals and opens what goes over a broker that is not trusted: AES-256-GCM, with a key for each
 * start of a member and a counter as the nonce.
 *
 * A sealed signal is `version (1) | salt (16) | counter (8) | ciphertext | tag (16)`; version,
 * salt, counter and the subject are authenticated with it.
 * @module
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { KIB } from '../../core/limits.ts'
import { Lru } from '../../lib/lru.ts'
import type { CircleSecrets } from './circle-key.ts'

/** Signals have a few hundred bytes; longer messages are not ours. */
export const MAX_SEALED_BYTES: number = 4 * KIB

const VERSION = 1
const SALT_BYTES = 16
const COUNTER_BYTES = 8
const HEADER_BYTES: number = 1 + SALT_BYTES + COUNTER_BYTES
const TAG_BYTES = 16
const KEY_BYTES = 32
const NONCE_BYTES = 12

const ALGORITHM = 'aes-256-gcm'

/** Members whose keys are remembered. The keys of others are derived again, in microseconds. */
const MAX_KEYS = 256

/** A signal that was sealed with our key. */
export interface Opened {
  readonly payload: Uint8Array
  /** Grows with each signal of one start of a member. */
  readonly counter: number
}

/** Seals signals of this start of the daemon, and opens those of others. */
export class Sealer {
  readonly #secrets: Pick<CircleSecrets, 'subject' | 'signalKey'>
  readonly #salt = randomBytes(SALT_BYTES)
  readonly #key: Uint8Array
  /** By salt; only of those that have sealed something that could be opened. */
  readonly #keys = new Lru<string, Uint8Array>(MAX_KEYS)
  #counter = 0

  constructor(secrets: Pick<CircleSecrets, 'subject' | 'signalKey'>) {
    this.#secrets = secrets
    this.#key = this.#deriveKey(this.#salt)
  }

  seal(payload: Uint8Array): Uint8Array {
    this.#counter += 1
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt8(VERSION, 0)
    this.#salt.copy(header, 1)
    header.writeBigUInt64BE(BigInt(this.#counter), 1 + SALT_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonceOf(header))
    cipher.setAAD(this.#authenticated(header))
    const start = cipher.update(payload)
    const sealed = Buffer.concat([header, start, cipher.final(), cipher.getAuthTag()])
    if (sealed.length > MAX_SEALED_BYTES) throw new RangeError('Cannot seal so long a signal')
    return sealed
  }

  /** Opens what was sealed with the key of this circle for its subject; else `undefined`. */
  open(sealed: Uint8Array): Opened | undefined {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    if (bytes.length < HEADER_BYTES + TAG_BYTES || bytes.length > MAX_SEALED_BYTES) return undefined
    if (bytes.readUInt8(0) !== VERSION) return undefined
    const header = bytes.subarray(0, HEADER_BYTES)
    const counter = Number(header.readBigUInt64BE(1 + SALT_BYTES))
    if (!Number.isSafeInteger(counter)) return undefined
    const name = header.toString('latin1', 1, 1 + SALT_BYTES)
    const known = this.#keys.get(name)
    const key = known ?? this.#deriveKey(header.subarray(1, 1 + SALT_BYTES))
    const decipher = createDecipheriv(ALGORITHM, key, nonceOf(header), { authTagLength: TAG_BYTES })
    decipher.setAAD(this.#authenticated(header))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const start = decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES))
    try {
      const payload = Buffer.concat([start, decipher.final()])
      if (known === undefined) this.#keys.set(name, key)
      return { payload, counter }
    } catch {
      // The message is not authentic; the error says no more.
      return undefined
    }
  }

  #deriveKey(salt: Uint8Array): Uint8Array {
    const { signalKey } = this.#secrets
    return new Uint8Array(hkdfSync('sha256', signalKey, salt, 'clipgate signal 1', KEY_BYTES))
  }

  #authenticated(header: Uint8Array): Uint8Array {
    return Buffer.concat([header, Buffer.from(this.#secrets.subject)])
  }
}

/** Unique for each key, since that is made of the salt, and counters are never used twice. */
function nonceOf(header: Buffer): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES)
  header.copy(nonce, NONCE_BYTES - COUNTER_BYTES, 1 + SALT_BYTES)
  return nonce
}
