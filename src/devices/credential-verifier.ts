/**
 * Verifies credentials, and remembers what it found.
 *
 * One login costs one Argon2id run; repeating it costs none until a credential changes. Why that is
 * sound: `docs/decisions/001-remembered-verification.md`. No password is kept, only digests under a
 * key that this process made up.
 *
 * Who is told to come again later goes first then: guesses seldom come twice, and a client whose
 * credentials are right always does.
 *
 * @module
 */

import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import { DomainError } from '../core/domain-error.ts'
import { MAX_PASSWORD_LENGTH } from '../core/limits.ts'
import type { Place } from '../lib/fair-queue.ts'
import { Lru } from '../lib/lru.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { CredentialVerifier, Turn } from '../ports/credential-verifier.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'
import { isLongerThan } from './credential-rules.ts'
import type { PasswordHasher } from './password-hasher.ts'

/** No user name is that long; the same bound as for passwords keeps the cost of nonsense down. */
const MAX_USERNAME_LENGTH = MAX_PASSWORD_LENGTH

/** Devices whose password is remembered, about 300 bytes each. */
const MAX_REMEMBERED = 16_384

/** Wrong credentials that are remembered. */
const MAX_REMEMBERED_WRONG = 1024

/** Credentials that were turned away: those of some seconds, however many connections guess. */
const MAX_TURNED_AWAY = 4096

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
  /** Digests too. */
  readonly #turnedAway = new Lru<string, true>(MAX_TURNED_AWAY)

  constructor(deps: CredentialVerifierDeps) {
    this.#deps = deps
    this.#wrongRevision = deps.registry.revision
  }

  recall(username: string, password: string): Device | 'wrong' | undefined {
    if (isOverlong(username, password)) return 'wrong'
    return this.#recall(username, this.#digest(username, password))
  }

  async verify(username: string, password: string, turn: Turn): Promise<Device | undefined> {
    if (isOverlong(username, password)) return undefined
    const digest = this.#digest(username, password)
    const known = this.#recall(username, digest)
    if (known !== undefined) return known === 'wrong' ? undefined : known

    const { revision } = this.#deps.registry
    const hash = this.#find(username)?.passwordHash
    const key = toKey(digest)
    const isRight = await this.#flights.run(`${key} ${hash}`, () =>
      this.#run(key, turn, (place) => this.#deps.hasher.verifyPassword(password, hash, place)),
    )
    if (!isRight || hash === undefined) {
      this.#rememberWrong(key, revision)
      return undefined
    }
    this.#right.set(hash, digest)
    // The run took its time: the device may be gone by now, or have another password.
    const now = this.#find(username)
    return now?.passwordHash === hash ? now : undefined
  }

  #recall(username: string, digest: Buffer): Device | 'wrong' | undefined {
    const device = this.#find(username)
    const hash = device?.passwordHash
    if (hash !== undefined && this.#isKnownRight(hash, digest)) return device
    return this.#isKnownWrong(toKey(digest)) ? 'wrong' : undefined
  }

  async #run(
    key: string,
    { lane, isDeferred }: Turn,
    verify: (place: Place) => Promise<boolean>,
  ): Promise<boolean> {
    const goesFirst = this.#turnedAway.get(key) === true
    try {
      if (isDeferred && !goesFirst) throw deferredError()
      return await verify({ lane, goesFirst })
    } catch (error) {
      this.#turnedAway.set(key, true)
      throw error
    }
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

  #isKnownWrong(key: string): boolean {
    if (this.#wrongRevision !== this.#deps.registry.revision) return false
    return this.#wrong.get(key) === true
  }

  #rememberWrong(key: string, revision: number): void {
    // Wrong then says nothing about now.
    if (revision !== this.#deps.registry.revision) return
    if (this.#wrongRevision !== revision) this.#wrong.clear()
    this.#wrongRevision = revision
    this.#wrong.set(key, true)
  }
}

function isOverlong(username: string, password: string): boolean {
  return username.length > MAX_USERNAME_LENGTH || isLongerThan(password, MAX_PASSWORD_LENGTH)
}

function toKey(digest: Buffer): string {
  return digest.toString('base64')
}

function deferredError(): DomainError {
  return new DomainError('VERIFIER_BUSY', 'Cannot verify a password now: it has to come again')
}
