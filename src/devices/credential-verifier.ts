/**
 * Verifies credentials, and remembers what it found.
 *
 * One login costs one Argon2id run; repeating it costs none until a credential changes. Why that is
 * sound: `docs/decisions/001-remembered-verification.md`. No password is kept, only digests under a
 * key that this process made up.
 *
 * @module
 */

import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import { MAX_PASSWORD_LENGTH } from '../core/limits.ts'
import { Lru } from '../lib/lru.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { CredentialVerifier } from '../ports/credential-verifier.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'
import { isLongerThan } from './credential-rules.ts'
import type { PasswordHasher } from './password-hasher.ts'

/** No user name is that long; the same bound as for passwords keeps the cost of nonsense down. */
const MAX_USERNAME_LENGTH = MAX_PASSWORD_LENGTH

/** Devices whose password is remembered, about 300 bytes each. */
const MAX_REMEMBERED = 4096

/** Wrong credentials that are remembered. */
const MAX_REMEMBERED_WRONG = 1024

export interface CredentialVerifierDeps {
  readonly registry: Pick<DeviceRegistry, 'revision' | 'find'>
  readonly hasher: Pick<PasswordHasher, 'verifyPassword'>
}

export function createCredentialVerifier(deps: CredentialVerifierDeps): CredentialVerifier {
  return new RememberingVerifier(deps)
}

class RememberingVerifier implements CredentialVerifier {
  readonly #deps: CredentialVerifierDeps
  // A key object: an HMAC with bare bytes takes five times as long on Node 24.
  readonly #key = createSecretKey(randomBytes(32))
  readonly #flights = new SingleFlight<string, boolean>()
  /** By PHC string, so that a new hash or none finds nothing here. */
  readonly #right = new Lru<string, Buffer>(MAX_REMEMBERED)
  /** Digests of credentials that were wrong at {@link #wrongRevision}. */
  readonly #wrong = new Lru<string, true>(MAX_REMEMBERED_WRONG)
  #wrongRevision: number

  constructor(deps: CredentialVerifierDeps) {
    this.#deps = deps
    this.#wrongRevision = deps.registry.revision
  }

  async verify(username: string, password: string): Promise<Device | undefined> {
    if (isLongerThan(password, MAX_PASSWORD_LENGTH)) return undefined
    if (username.length > MAX_USERNAME_LENGTH) return undefined

    const digest = this.#digest(username, password)
    const device = this.#find(username)
    const hash = device?.passwordHash
    if (hash !== undefined && this.#isKnownRight(hash, digest)) return device
    if (this.#isKnownWrong(digest)) return undefined

    const { revision } = this.#deps.registry
    const flight = `${digest.toString('base64')} ${hash}`
    const isRight = await this.#flights.run(flight, () =>
      this.#deps.hasher.verifyPassword(password, hash),
    )
    if (!isRight || hash === undefined) {
      this.#rememberWrong(digest, revision)
      return undefined
    }
    this.#right.set(hash, digest)
    // The run took its time: the device may be gone by now, or have another password.
    const now = this.#find(username)
    return now?.passwordHash === hash ? now : undefined
  }

  /** The registry also finds ids, which are no credentials. */
  #find(username: string): Device | undefined {
    const device = this.#deps.registry.find(username)
    return device?.username === username ? device : undefined
  }

  #digest(username: string, password: string): Buffer {
    // The length keeps the pairs "ab", "c" and "a", "bc" apart.
    const credentials = `${username.length}:${username}${password}`
    return createHmac('sha256', this.#key).update(credentials).digest()
  }

  #isKnownRight(hash: string, digest: Buffer): boolean {
    const known = this.#right.get(hash)
    return known !== undefined && timingSafeEqual(known, digest)
  }

  #isKnownWrong(digest: Buffer): boolean {
    if (this.#wrongRevision !== this.#deps.registry.revision) return false
    return this.#wrong.get(digest.toString('base64')) === true
  }

  #rememberWrong(digest: Buffer, revision: number): void {
    // Wrong then says nothing about now.
    if (revision !== this.#deps.registry.revision) return
    if (this.#wrongRevision !== revision) this.#wrong.clear()
    this.#wrongRevision = revision
    this.#wrong.set(digest.toString('base64'), true)
  }
}
