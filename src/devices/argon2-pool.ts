/**
 * Derives Argon2id tags within bounds: who waits for a thread, for how long, and in which order.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { Clock } from '../lib/clock.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { Seldom } from '../lib/seldom.ts'
import type { Logger } from '../ports/logger.ts'
import { Argon2Threads, type PendingJob, type ThreadOwner } from './argon2-threads.ts'
import {
  EASY_BYTES,
  LOGIN_BYTES,
  readMemoryRoom,
  UPLOAD_BYTES,
  type MemoryRoom,
} from './login-memory.ts'
import type { Argon2Job } from './phc-string.ts'
import { VerificationQueue, type Place } from './verification-queue.ts'

const DEFAULT_WORKERS = 1
const DEFAULT_QUEUE = 32

/** A client that waited this long is better told to come again. */
const MAX_WAIT_MS = 3_000

/** As long as clients wait. On a slow board ten devices that come back at once take 6 s. */
const MAX_KEPT_WAIT_MS = 10_000

/** With this many waiting, the worker leaves processor time to everybody else. */
const CROWD = 4

/** Options of {@link Argon2Pool}. */
export interface Argon2PoolOptions {
  readonly clock: Clock
  /** Is warned once when the kernel is damaged, and of refusals. */
  readonly logger?: Logger | undefined
  /** Runs at once, each of 64 MiB; of several pools of a program, the one with most decides. */
  readonly workers?: number | undefined
  /** Verifications that may wait, besides those with a place of their own. */
  readonly queue?: number | undefined
  /** The limit on memory, before a worker is started; `undefined` where there is none. */
  readonly room?: (() => MemoryRoom | undefined) | undefined
}

interface Waiting extends PendingJob {
  /** Ends the limit on waiting. */
  stopWaiting: () => void
}

const nothing = (): void => undefined

/** The jobs that wait for a thread. */
export class Argon2Pool implements ThreadOwner {
  readonly maxThreads: number
  readonly #clock: Clock
  readonly #logger: Logger | undefined
  readonly #room: () => MemoryRoom | undefined
  readonly #threads: Argon2Threads
  readonly #urgent: Waiting[] = []
  readonly #waiting: VerificationQueue<Waiting>
  #isClosed = false
  /** The damaged kernel was warned of. */
  #isTold = false
  /** Refusals because memory is short. */
  readonly #told: Seldom

  constructor(options: Argon2PoolOptions) {
    this.#clock = options.clock
    this.#told = new Seldom(options)
    this.#logger = options.logger
    this.maxThreads = options.workers ?? DEFAULT_WORKERS
    this.#waiting = new VerificationQueue(options.queue ?? DEFAULT_QUEUE)
    this.#room = options.room ?? readMemoryRoom
    this.#threads = Argon2Threads.join(options.clock, this)
  }

  get isShort(): boolean {
    const room = this.#room()
    return room !== undefined && room.left < UPLOAD_BYTES
  }

  get isTight(): boolean {
    const room = this.#room()
    return room !== undefined && room.limit < EASY_BYTES
  }

  get hasWaiting(): boolean {
    return this.#urgent.length + this.#waiting.size > 0
  }

  get isCrowded(): boolean {
    return this.#waiting.size >= CROWD
  }

  /**
   * Derives a tag. Urgent jobs are what the owner asks for: they go first and wait for ever. The
   * others are what anybody on the network can ask for: they are refused when the queue has no
   * room for them, or when they have waited in it for 3 s, 10 s for a device where it was seen
   * last. All are refused where no worker runs and a limit on memory has no room for one:
   * the kernel would end the program.
   *
   * @throws {DomainError} `VERIFIER_BUSY`.
   */
  derive(job: Argon2Job, place: 'urgent' | Place): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closedError()
      const pending: Waiting = { owner: this, job, resolve, reject, stopWaiting: nothing }
      if (this.#threads.run(pending)) return
      if (place === 'urgent') this.#urgent.push(pending)
      else this.#wait(pending, place)
    })
  }

  /** Fails what was asked for, and ends the workers when no other pool of the program is open. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let next = this.takeNext(); next !== undefined; next = this.takeNext()) {
      next.reject(closedError())
    }
    await this.#threads.leave(this, closedError())
  }

  takeNext(): PendingJob | undefined {
    const next = this.#urgent.shift() ?? this.#waiting.take()
    next?.stopWaiting()
    return next
  }

  /** @throws {DomainError} `VERIFIER_BUSY`, which it says now and then. */
  checkRoom(): void {
    const room = this.#room()
    if (room === undefined || room.left >= LOGIN_BYTES) return
    this.#told.warn('Logins are refused: the limit on memory has no room for them', {
      needed: formatBytes(LOGIN_BYTES),
      left: formatBytes(Math.max(0, room.left)),
      limit: formatBytes(room.limit),
    })
    throw memoryError()
  }

  /** Warns once that the kernel is not used: each worker finds the same. */
  warn(reason: string): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#logger?.warn('Cannot use argon2-kernel.wasm: logins take longer', { reason })
  }

  #wait(pending: Waiting, place: Place): void {
    const isUsual = place.reservation?.isAtUsualNetwork === true
    const waitMs = isUsual ? MAX_KEPT_WAIT_MS : MAX_WAIT_MS
    pending.stopWaiting = this.#clock.after(waitMs, () => {
      if (this.#waiting.delete(pending)) pending.reject(busyError())
    })
    const refused = this.#waiting.add(pending, place)
    refused?.stopWaiting()
    refused?.reject(busyError())
  }
}

function busyError(): DomainError {
  return new DomainError('VERIFIER_BUSY', 'Cannot verify a password now: too many wait already')
}

function memoryError(): DomainError {
  const message = 'Cannot verify or hash a password now: the limit on memory has no room for it'
  return new DomainError('VERIFIER_BUSY', message)
}

function closedError(): DomainError {
  return new DomainError('STATION_CLOSED', 'Cannot verify a password: the verifier is closed')
}
