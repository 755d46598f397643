/** Hashes and verifies passwords with Argon2id, off the main thread and within bounds. @module */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Argon2Pool, type Argon2PoolOptions } from './argon2-pool.ts'
import { type Argon2Parameters, formatPhcString, parsePhcString } from './phc-string.ts'
import type { Place } from './verification-queue.ts'

/** The cost of a login: 64 MiB, 3 passes, 4 lanes. */
const PARAMETERS: Argon2Parameters = { memoryKib: 65_536, passes: 3, parallelism: 4 }

const SALT_BYTES = 16
const TAG_BYTES = 32

/** Hashes and verifies passwords, with workers of its own. */
export class PasswordHasher {
  readonly #pool: Argon2Pool
  /** The PHC string of nobody: no password is known to give a random tag. */
  readonly #nobody = formatPhcString({
    ...PARAMETERS,
    salt: randomBytes(SALT_BYTES),
    tag: randomBytes(TAG_BYTES),
  })

  constructor(options: Argon2PoolOptions) {
    this.#pool = new Argon2Pool(options)
  }

  /**
   * The PHC string of a new password. Goes before all verifications, however many wait.
   *
   * @throws {DomainError} `VERIFIER_BUSY` when a limit on memory has no room for it.
   */
  async hashPassword(password: string): Promise<string> {
    const salt = new Uint8Array(randomBytes(SALT_BYTES))
    const job = { password: toBytes(password), salt, ...PARAMETERS, tagLength: TAG_BYTES }
    const tag = await this.#pool.derive(job, 'urgent')
    return formatPhcString({ ...PARAMETERS, salt, tag })
  }

  /**
   * Whether `password` is the one of this PHC string. Without one it costs the same, and is false.
   *
   * @param place Where it waits for the others.
   * @throws {DomainError} `VERIFIER_BUSY` when too many verifications wait, or it waited too long.
   */
  async verifyPassword(
    password: string,
    passwordHash: string | undefined,
    place: Place,
  ): Promise<boolean> {
    const parsed = parsePhcString(passwordHash ?? this.#nobody)
    if (parsed === undefined) throw new TypeError('Cannot verify a password: the hash is malformed')
    const { tag, ...rest } = parsed
    // hash-wasm refuses to hash nothing. No device has an empty password, but anybody can send one.
    const bytes = toBytes(password === '' ? '\0' : password)
    const job = { ...rest, password: bytes, tagLength: tag.length }
    const derived = await this.#pool.derive(job, place)
    return timingSafeEqual(derived, tag) && password !== '' && passwordHash !== undefined
  }

  /** Ends the workers; what they were asked for fails. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}

function toBytes(password: string): Uint8Array {
  return new TextEncoder().encode(password)
}
