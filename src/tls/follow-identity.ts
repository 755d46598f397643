/** Keeps an identity as what it is made of changes, without a restart. @module */

import type { SecureContext } from 'node:tls'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Logger } from '../ports/logger.ts'
import type { Identity } from './identity.ts'

/** Pause between two looks: neither addresses nor files of others tell that they have changed. */
export const LOOK_MS = 10_000

/** Where an identity comes from. */
export interface IdentitySource {
  /** A text that is another one once {@link load} would give another identity. */
  look(): Promise<string>
  /** @throws {Error} that says what cannot be used, and why. */
  load(): Promise<Identity>
}

/** The identity of a listener, as it is now. */
export interface ServedIdentity {
  readonly current: Identity
  /** Why what is newer is not used, if it is not. */
  readonly error: string | undefined
  context(): SecureContext
  /** Calls `listener` when one of these has changed. @returns Ends that. */
  onChange(listener: () => void): () => void
  close(): void
}

/** The surroundings of a followed identity. */
export interface FollowOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
}

/** Loads an identity, and again whenever its source has changed. @throws As its `load`. */
export async function followIdentity(
  source: IdentitySource,
  options: FollowOptions,
): Promise<ServedIdentity> {
  const seen = await source.look()
  return new FollowedIdentity(source, options, seen, await source.load())
}

class FollowedIdentity implements ServedIdentity {
  readonly #source: IdentitySource
  readonly #options: FollowOptions
  readonly #watchers = new Subscribers()
  current: Identity
  error: string | undefined
  #seen: string
  #cancel: () => void = () => undefined
  #isClosed = false

  constructor(source: IdentitySource, options: FollowOptions, seen: string, current: Identity) {
    this.#source = source
    this.#options = options
    this.#seen = seen
    this.current = current
    this.#warn(current.trouble)
    this.#lookLater()
  }

  context(): SecureContext {
    return this.current.context
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  #lookLater(): void {
    if (this.#isClosed) return
    this.#cancel = this.#options.clock.after(LOOK_MS, () => {
      void this.#look().finally(() => this.#lookLater())
    })
  }

  /** Connections that there are go on with what they began with. */
  async #look(): Promise<void> {
    const { logger } = this.#options
    try {
      const seen = await this.#source.look()
      if (seen === this.#seen) return
      this.current = await this.#source.load()
      // Only now: of two files, one may be written later than the other.
      this.#seen = seen
      logger.info('The TLS certificate is another one')
      this.#warn(this.current.trouble)
    } catch (error) {
      const reason = messageOf(error)
      if (reason === this.error) return
      this.#warn(reason)
    }
    this.#watchers.notify()
  }

  #warn(reason: string | undefined): void {
    this.error = reason
    if (reason === undefined) return
    this.#options.logger.warn('The TLS certificate cannot be used', { reason })
  }
}
