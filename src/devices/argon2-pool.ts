/**
 * Worker threads that derive Argon2id tags: few, started when needed, and ended when idle, because
 * each holds on to the 64 MiB of its last run.
 *
 * @module
 */

import { Worker } from 'node:worker_threads'
import { DomainError } from '../core/domain-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Argon2Parameters } from './phc-string.ts'

const DEFAULT_WORKERS = 1
const DEFAULT_QUEUE = 32
const DEFAULT_IDLE_MS = 5_000

/** A client that waited this long is better told to come again. */
const MAX_WAIT_MS = 3_000

/** One run, as `argon2-worker.js` takes it. */
export interface Argon2Job extends Argon2Parameters {
  readonly password: Uint8Array
  readonly salt: Uint8Array
  readonly tagLength: number
}

/** What the owner asks for goes before what anybody on the network can ask for. */
export type Urgency = 'urgent' | 'bounded'

export interface Argon2PoolOptions {
  readonly clock: Clock
  readonly workers?: number | undefined
  readonly queue?: number | undefined
  readonly idleMs?: number | undefined
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

export class Argon2Pool {
  readonly #clock: Clock
  readonly #maxThreads: number
  readonly #maxWaiting: number
  readonly #idleMs: number
  readonly #threads = new Set<Thread>()
  readonly #urgent = new Set<PendingJob>()
  readonly #waiting = new Set<PendingJob>()
  #isClosed = false

  constructor(options: Argon2PoolOptions) {
    this.#clock = options.clock
    this.#maxThreads = options.workers ?? DEFAULT_WORKERS
    this.#maxWaiting = options.queue ?? DEFAULT_QUEUE
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS
  }

  /**
   * Derives a tag. Urgent jobs go first and wait for ever; bounded ones are refused when the queue
   * is full, or when they have waited in it for 3 s.
   *
   * @throws {DomainError} `VERIFIER_BUSY`, for bounded jobs.
   */
  derive(job: Argon2Job, urgency: Urgency): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closedError()
      const pending: PendingJob = { job, resolve, reject, stopWaiting: nothing }
      if (urgency === 'urgent') this.#urgent.add(pending)
      else this.#enqueue(pending)
      this.#dispatch()
    })
  }

  /** Ends all workers; what they were asked for fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const pending of [...this.#urgent, ...this.#waiting]) {
      this.#take(pending).reject(closedError())
    }
    const threads = [...this.#threads]
    for (const thread of threads) this.#drop(thread, closedError())
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #enqueue(pending: PendingJob): void {
    const isFree = this.#threads.size < this.#maxThreads || this.#findIdle() !== undefined
    if (!isFree && this.#waiting.size >= this.#maxWaiting) throw busyError()
    this.#waiting.add(pending)
    if (isFree) return
    pending.stopWaiting = this.#clock.after(MAX_WAIT_MS, () => {
      this.#take(pending).reject(busyError())
    })
  }

  #dispatch(): void {
    for (const pending of [...this.#urgent, ...this.#waiting]) {
      const thread = this.#findIdle() ?? this.#start()
      if (thread === undefined) return
      this.#run(thread, this.#take(pending))
    }
  }

  #take(pending: PendingJob): PendingJob {
    this.#urgent.delete(pending)
    this.#waiting.delete(pending)
    pending.stopWaiting()
    return pending
  }

  #findIdle(): Thread | undefined {
    for (const thread of this.#threads) if (thread.running === undefined) return thread
    return undefined
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= this.#maxThreads) return undefined
    // Loaders of the main thread (tsx) would cost the worker time and memory for nothing.
    const worker = new Worker(new URL('./argon2-worker.js', import.meta.url), { execArgv: [] })
    const thread: Thread = { worker, running: undefined, stopIdling: nothing }
    this.#threads.add(thread)
    worker.on('message', (tag: Uint8Array) => this.#finish(thread, tag))
    worker.on('error', (cause) => this.#drop(thread, deadError(cause)))
    worker.on('exit', () => this.#drop(thread, deadError()))
    return thread
  }

  #run(thread: Thread, pending: PendingJob): void {
    thread.stopIdling()
    thread.running = pending
    thread.worker.ref()
    thread.worker.postMessage(pending.job)
  }

  #finish(thread: Thread, tag: Uint8Array): void {
    const pending = thread.running
    this.#rest(thread)
    this.#dispatch()
    pending?.resolve(tag)
  }

  #rest(thread: Thread): void {
    thread.running = undefined
    // An idle worker does not keep the program alive.
    thread.worker.unref()
    thread.stopIdling = this.#clock.after(this.#idleMs, () => {
      this.#drop(thread, deadError())
      void thread.worker.terminate()
    })
  }

  #drop(thread: Thread, error: Error): void {
    if (!this.#threads.delete(thread)) return
    thread.stopIdling()
    thread.running?.reject(error)
    this.#dispatch()
  }
}

function busyError(): DomainError {
  return new DomainError('VERIFIER_BUSY', 'Cannot verify a password now: too many wait already')
}

function closedError(): Error {
  return new Error('Cannot verify a password: the verifier is closed')
}

function deadError(cause?: unknown): Error {
  return new Error('Cannot verify a password: the worker ended', { cause })
}
