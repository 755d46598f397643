/**
 * Worker threads that derive Argon2id tags: few, started when needed, and ended when idle, because
 * each holds on to the 64 MiB of its last run.
 * @module
 */

import { Worker, type ResourceLimits } from 'node:worker_threads'
import { DomainError } from '../core/domain-error.ts'
import type { Clock } from '../lib/clock.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { Seldom } from '../lib/seldom.ts'
import type { Logger } from '../ports/logger.ts'
import { LOGIN_BYTES, readMemoryRoom, type MemoryRoom } from './login-memory.ts'
import type { Argon2Job } from './phc-string.ts'
import { VerificationQueue, type Place } from './verification-queue.ts'

const DEFAULT_WORKERS = 1
const DEFAULT_QUEUE = 32
/** A worker without work ends after this time, and gives its memory back. */
const IDLE_MS = 5_000

/** A few kilobytes of program. The memory of a run lies outside of what this limits. */
const HEAP_LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }

/** A client that waited this long is better told to come again. */
const MAX_WAIT_MS = 3_000

/** With this many waiting, the worker leaves processor time to everybody else. */
const CROWD = 4

/** Options of {@link Argon2Pool}. */
export interface Argon2PoolOptions {
  readonly clock: Clock
  /** Is warned once when the kernel is damaged, and of refusals. */
  readonly logger?: Logger | undefined
  /** Runs at once, each of 64 MiB. */
  readonly workers?: number | undefined
  /** Verifications that may wait, besides those with a place of their own. */
  readonly queue?: number | undefined
  /** The limit on memory, before a worker is started; `undefined` where there is none. */
  readonly room?: (() => MemoryRoom | undefined) | undefined
}

interface PendingJob {
  readonly job: Argon2Job
  readonly resolve: (tag: Uint8Array) => void
  readonly reject: (error: Error) => void
  /** Ends the limit on waiting. */
  stopWaiting: () => void
}

interface Thread {
  readonly worker: Worker
  running: PendingJob | undefined
  stopIdling: () => void
}

const nothing = (): void => undefined

/** The worker threads, and the jobs that wait for one. */
export class Argon2Pool {
  readonly #clock: Clock
  readonly #logger: Logger | undefined
  readonly #maxThreads: number
  readonly #room: () => MemoryRoom | undefined
  readonly #threads = new Set<Thread>()
  readonly #urgent: PendingJob[] = []
  readonly #waiting: VerificationQueue<PendingJob>
  #isClosed = false
  /** The damaged kernel was warned of. */
  #isTold = false
  /** Refusals because memory is short. */
  readonly #told: Seldom

  constructor(options: Argon2PoolOptions) {
    this.#clock = options.clock
    this.#told = new Seldom(options.clock)
    this.#logger = options.logger
    this.#maxThreads = options.workers ?? DEFAULT_WORKERS
    this.#waiting = new VerificationQueue(options.queue ?? DEFAULT_QUEUE)
    this.#room = options.room ?? readMemoryRoom
  }

  /**
   * Derives a tag. Urgent jobs are what the owner asks for: they go first and wait for ever. The
   * others are what anybody on the network can ask for: they are refused when the queue has no
   * room for them, or when they have waited in it for 3 s. All are refused where no worker runs and
   * a limit on memory has no room for one: the kernel would end the program.
   *
   * @throws {DomainError} `VERIFIER_BUSY`.
   */
  derive(job: Argon2Job, place: 'urgent' | Place): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closedError()
      const pending: PendingJob = { job, resolve, reject, stopWaiting: nothing }
      const thread = this.#findThread()
      if (thread !== undefined) this.#run(thread, pending)
      else if (this.#threads.size === 0) throw memoryError()
      else if (place === 'urgent') this.#urgent.push(pending)
      else this.#wait(pending, place)
    })
  }

  /** Ends all workers; what they were asked for fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      next.reject(closedError())
    }
    const threads = [...this.#threads]
    for (const thread of threads) this.#drop(thread, closedError())
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #wait(pending: PendingJob, place: Place): void {
    pending.stopWaiting = this.#clock.after(MAX_WAIT_MS, () => {
      if (this.#waiting.delete(pending)) pending.reject(busyError())
    })
    const refused = this.#waiting.add(pending, place)
    refused?.stopWaiting()
    refused?.reject(busyError())
  }

  #takeNext(): PendingJob | undefined {
    const next = this.#urgent.shift() ?? this.#waiting.take()
    next?.stopWaiting()
    return next
  }

  #findThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.running === undefined) return thread
    return this.#threads.size < this.#maxThreads && this.#hasRoom() ? this.#start() : undefined
  }

  #hasRoom(): boolean {
    const room = this.#room()
    if (room === undefined || room.left >= LOGIN_BYTES) return true
    if (this.#told.take()) {
      this.#logger?.warn('Logins are refused: the limit on memory has no room for them', {
        needed: formatBytes(LOGIN_BYTES),
        left: formatBytes(Math.max(0, room.left)),
        limit: formatBytes(room.limit),
      })
    }
    return false
  }

  #start(): Thread {
    // Loaders of the main thread (tsx) would cost the worker time and memory for nothing.
    const options = { execArgv: [], resourceLimits: HEAP_LIMITS }
    const worker = new Worker(new URL('./argon2-worker.js', import.meta.url), options)
    const thread: Thread = { worker, running: undefined, stopIdling: nothing }
    this.#threads.add(thread)
    worker.on('message', (message: Uint8Array | { readonly trouble: string }) => {
      if (message instanceof Uint8Array) this.#finish(thread, message)
      else this.#warn(message.trouble)
    })
    worker.on('error', (cause) => this.#drop(thread, endedError(cause)))
    worker.on('exit', () => this.#drop(thread, endedError()))
    return thread
  }

  /** Warns once that the kernel is not used: each worker finds the same. */
  #warn(reason: string): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#logger?.warn('Cannot use argon2-kernel.wasm: logins take longer', { reason })
  }

  #run(thread: Thread, pending: PendingJob): void {
    thread.stopIdling()
    thread.running = pending
    thread.worker.ref()
    thread.worker.postMessage({ ...pending.job, isPatient: this.#waiting.size >= CROWD })
  }

  #finish(thread: Thread, tag: Uint8Array): void {
    const pending = thread.running
    const next = this.#takeNext()
    if (next === undefined) this.#rest(thread)
    else this.#run(thread, next)
    pending?.resolve(tag)
  }

  #rest(thread: Thread): void {
    thread.running = undefined
    // An idle worker does not keep the program alive.
    thread.worker.unref()
    thread.stopIdling = this.#clock.after(IDLE_MS, () => {
      this.#drop(thread, endedError())
      void thread.worker.terminate()
    })
  }

  #drop(thread: Thread, error: Error): void {
    if (!this.#threads.delete(thread)) return
    thread.stopIdling()
    thread.running?.reject(error)
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      try {
        if (!this.#hasRoom()) throw memoryError()
        this.#run(this.#start(), next)
        return
      } catch (cause) {
        next.reject(cause instanceof DomainError ? cause : endedError(cause))
      }
    }
  }
}

function busyError(): DomainError {
  return new DomainError('VERIFIER_BUSY', 'Cannot verify a password now: too many wait already')
}

function memoryError(): DomainError {
  const message = 'Cannot verify or hash a password now: the limit on memory has no room for it'
  return new DomainError('VERIFIER_BUSY', message)
}

function closedError(): Error {
  return new Error('Cannot verify a password: the verifier is closed')
}

function endedError(cause?: unknown): Error {
  return new Error('Cannot verify a password: the worker ended', { cause })
}
