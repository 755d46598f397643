/**
 * Hashes and verifies passwords with Argon2id, off the main thread and within bounds.
 * @module
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { Argon2Pool } from './argon2-pool.ts'
import { type Argon2Parameters, formatPhcString, parsePhcString } from './phc-string.ts'
import type { Place } from './verification-queue.ts'

/** The cost of a login: 64 MiB, 3 passes, 4 lanes. */
export const ARGON2_PARAMETERS: Argon2Parameters = { memoryKib: 65_536, passes: 3, parallelism: 4 }

const SALT_BYTES = 16
const TAG_BYTES = 32

/** Hashes and verifies passwords. */
export interface PasswordHasher {
  /** The PHC string of a new password. Goes before all verifications, and never finds them busy. */
  hashPassword(password: string): Promise<string>

  /**
   * Whether `password` is the one of this PHC string. Without one it costs the same, and is false.
   *
   * @param place Where it waits for the others.
   * @throws {DomainError} `VERIFIER_BUSY` when too many verifications wait, or it waited too long.
   */
  verifyPassword(password: string, passwordHash: string | undefined, place: Place): Promise<boolean>

  /** Ends the workers; what they were asked for fails. */
  close(): Promise<void>
}

/** Options of {@link createPasswordHasher}. */
export interface PasswordHasherOptions {
  readonly clock: Clock
  /** Gets one warning when the kernel for Argon2id is damaged. */
  readonly logger?: Logger | undefined
  /** Runs at once, each of 64 MiB. */
  readonly workers?: number | undefined
  /** Verifications that may wait, besides those with a place of their own. */
  readonly queue?: number | undefined
  /** A worker without work ends after this time, and gives its memory back. */
  readonly idleMs?: number | undefined
  /** Only tests want other ones. */
  readonly parameters?: Argon2Parameters | undefined
}

/** Makes a hasher with workers of its own. */
export function createPasswordHasher(options: PasswordHasherOptions): PasswordHasher {
  const { parameters = ARGON2_PARAMETERS } = options
  const pool = new Argon2Pool(options)
  // No password is known to give a random tag.
  const nobody = formatPhcString({
    ...parameters,
    salt: randomBytes(SALT_BYTES),
    tag: randomBytes(TAG_BYTES),
  })

  async function hashPassword(password: string): Promise<string> {
    const salt = new Uint8Array(randomBytes(SALT_BYTES))
    const job = { password: toBytes(password), salt, ...parameters, tagLength: TAG_BYTES }
    const tag = await pool.derive(job, 'urgent')
    return formatPhcString({ ...parameters, salt, tag })
  }

  async function verifyPassword(
    password: string,
    passwordHash = nobody,
    place: Place,
  ): Promise<boolean> {
    const record = parsePhcString(passwordHash)
    if (record === undefined) throw new TypeError('Cannot verify a password: the hash is malformed')
    const { tag, ...rest } = record
    // hash-wasm refuses to hash nothing. No device has an empty password, but anybody can send one.
    const bytes = toBytes(password === '' ? '\0' : password)
    const job = { ...rest, password: bytes, tagLength: tag.length }
    const derived = await pool.derive(job, place)
    return timingSafeEqual(derived, tag) && password !== '' && passwordHash !== nobody
  }

  return { hashPassword, verifyPassword, close: () => pool.close() }
}

function toBytes(password: string): Uint8Array {
  return new TextEncoder().encode(password)
}
