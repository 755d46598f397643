/**
 * Verifies credentials, and remembers what it found.
 *
 * One login costs one Argon2id run; repeating it costs none until a credential changes. Why that is
 * sound: `docs/decisions/001-remembered-verification.md`. No password is kept, only digests under a
 * key that this process made up.
 *
 * Credentials that are told to come again do not wait behind new ones when they do: guesses seldom
 * come twice, and a client whose credentials are right always does. A user name that exists, and
 * that has not failed from the network of the client, has a place of its own. Why:
 * `docs/decisions/013-come-again.md`.
 * @module
 */

import { hash as hashAtOnce, randomBytes } from 'node:crypto'
import { DomainError } from '../core/domain-error.ts'
import { MAX_PASSWORD_LENGTH } from '../core/limits.ts'
import { Lru } from '../lib/lru.ts'
import { networkOf } from '../lib/network-of.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { CredentialVerifier, Turn } from '../ports/credential-verifier.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'
import { isLongerThan } from './credential-rules.ts'
import type { PasswordHasher } from './password-hasher.ts'
import type { Place, Reservation } from './verification-queue.ts'

/** No user name is that long; the same bound as for passwords keeps the cost of nonsense down. */
const MAX_USERNAME_LENGTH = MAX_PASSWORD_LENGTH

/** Devices whose password is remembered, about 300 bytes each. */
const MAX_REMEMBERED = 16_384

/** Wrong credentials that are remembered. */
const MAX_REMEMBERED_WRONG = 1024

/** Credentials that were turned away: those of some seconds, however many connections guess. */
const MAX_TURNED_AWAY = 4096

/** Pairs of a network and a device whose password was wrong from there. */
const MAX_FAILED = 4096

/** The parts behind a verifier. */
export interface CredentialVerifierDeps {
  readonly registry: Pick<DeviceRegistry, 'revision' | 'find'>
  readonly hasher: Pick<PasswordHasher, 'verifyPassword'>
}

/** Verifies credentials, and remembers what it found. */
export class RememberingVerifier implements CredentialVerifier {
  readonly #deps: CredentialVerifierDeps
  readonly #key = randomBytes(32).toString('base64')
  readonly #flights = new SingleFlight<string, boolean>()
  /** By PHC string, so that a new hash or none finds nothing here. */
  readonly #right = new Lru<string, string>(MAX_REMEMBERED)
  /** Digests of credentials that were wrong at {@link #wrongRevision}. */
  readonly #wrong = new Lru<string, true>(MAX_REMEMBERED_WRONG)
  /** Networks and devices, where a password was wrong at {@link #wrongRevision}. */
  readonly #failed = new Lru<string, true>(MAX_FAILED)
  #wrongRevision: number
  /** Digests of credentials that were turned away, for names that exist and for all others. */
  readonly #turnedAway = {
    device: new Lru<string, true>(MAX_TURNED_AWAY),
    // Apart, so that made-up names cannot make the verifier forget a device.
    nobody: new Lru<string, true>(MAX_TURNED_AWAY),
  }

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
    const device = this.#find(username)
    const hash = device?.passwordHash
    const isRight = await this.#flights.run(`${digest} ${hash}`, () =>
      this.#run(digest, device, turn, (place) =>
        this.#deps.hasher.verifyPassword(password, hash, place),
      ),
    )
    if (!isRight || hash === undefined) {
      this.#rememberWrong(digest, device, turn.network, revision)
      return undefined
    }
    this.#right.set(hash, digest)
    // The run took its time: the device may be gone by now, or have another password.
    const now = this.#find(username)
    return now?.passwordHash === hash ? now : undefined
  }

  #recall(username: string, digest: string): Device | 'wrong' | undefined {
    const device = this.#find(username)
    const hash = device?.passwordHash
    if (hash !== undefined && this.#right.get(hash) === digest) return device
    return this.#isKnownWrong(digest) ? 'wrong' : undefined
  }

  async #run(
    key: string,
    device: Device | undefined,
    { network, isDeferred }: Turn,
    verify: (place: Place) => Promise<boolean>,
  ): Promise<boolean> {
    const turnedAway = this.#turnedAway[device === undefined ? 'nobody' : 'device']
    const comesAgain = turnedAway.get(key) === true
    try {
      if (isDeferred && !comesAgain) throw deferredError()
      return await verify({
        lane: network,
        comesAgain,
        reservation: this.#reservationOf(device, network),
      })
    } catch (error) {
      turnedAway.set(key, true)
      throw error
    }
  }

  /**
   * A wrong password counts against the device at that network only: otherwise one guess from
   * anywhere would take the device's place away.
   */
  #reservationOf(device: Device | undefined, network: string): Reservation | undefined {
    if (device?.passwordHash === undefined) return undefined
    const isCurrent = this.#wrongRevision === this.#deps.registry.revision
    if (isCurrent && this.#failed.get(toPair(network, device)) === true) return undefined
    const { username, lastSeenAddress } = device
    const isAtUsualNetwork = lastSeenAddress !== undefined && networkOf(lastSeenAddress) === network
    return { username, isAtUsualNetwork }
  }

  /** The registry also finds ids, which are no credentials. */
  #find(username: string): Device | undefined {
    const device = this.#deps.registry.find(username)
    return device?.username === username ? device : undefined
  }

  /**
   * A hash with the key before and behind: the time that comparing two of them takes says nothing
   * to whoever does not know it. Each new connection comes here, and an HMAC takes six times as
   * long.
   */
  #digest(username: string, password: string): string {
    // The length keeps the pairs "ab", "c" and "a", "bc" apart.
    const credentials = `${username.length}:${username}${password}`
    return hashAtOnce('sha256', `${this.#key}${credentials}${this.#key}`, 'base64')
  }

  #isKnownWrong(key: string): boolean {
    if (this.#wrongRevision !== this.#deps.registry.revision) return false
    return this.#wrong.get(key) === true
  }

  #rememberWrong(key: string, device: Device | undefined, network: string, revision: number): void {
    // Wrong then says nothing about now.
    if (revision !== this.#deps.registry.revision) return
    if (this.#wrongRevision !== revision) {
      this.#wrong.clear()
      this.#failed.clear()
    }
    this.#wrongRevision = revision
    this.#wrong.set(key, true)
    if (device !== undefined) this.#failed.set(toPair(network, device), true)
  }
}

function isOverlong(username: string, password: string): boolean {
  return username.length > MAX_USERNAME_LENGTH || isLongerThan(password, MAX_PASSWORD_LENGTH)
}

function toPair(network: string, { id }: Device): string {
  return `${network} ${id}`
}

function deferredError(): DomainError {
  return new DomainError('VERIFIER_BUSY', 'Cannot verify a password now: it has to come again')
}
