/**
 * Derives Argon2id tags within bounds: who waits for a thread, for how long, and in which order.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { type Clock, perClock } from '../lib/clock.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { Seldom } from '../lib/seldom.ts'
import type { Logger } from '../ports/logger.ts'
import {
  EASY_BYTES,
  LOGIN_BYTES,
  readMemoryRoom,
  UPLOAD_BYTES,
  type MemoryRoom,
} from './login-memory.ts'
import type { Argon2Job } from './phc-string.ts'
import { VerificationQueue, type Place } from './verification-queue.ts'
import { Worker } from 'node:worker_threads'
import { MemoryTurn, type MemoryHolder } from '../lib/memory-turn.ts'
import { ownFile, SMALL_HEAP } from '../lib/program-files.ts'

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

const nothing = (): void => undefined

/** The jobs that wait for a thread. */
export class Argon2Pool {
  /** How many threads there may be; the pool that allows most decides. */
  readonly maxThreads: number
  readonly #clock: Clock
  readonly #logger: Logger | undefined
  readonly #room: () => MemoryRoom | undefined
  readonly #threads: Argon2Threads
  readonly #urgent: PendingJob[] = []
  readonly #waiting: VerificationQueue<PendingJob>
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

  /** Whether so little memory is left that an idle thread has to give its own back at once. */
  get isShort(): boolean {
    const room = this.#room()
    return room !== undefined && room.left < UPLOAD_BYTES
  }

  /** Whether the limit on memory is too low for a login and a long text at the same time. */
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
      const pending: PendingJob = { owner: this, job, resolve, reject, stopWaiting: nothing }
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

  #wait(pending: PendingJob, place: Place): void {
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

/** A worker without work ends after this time, and gives its memory back. */
const IDLE_MS = 5_000

/** A job, and who asked for it. */
interface PendingJob {
  readonly owner: Argon2Pool
  readonly job: Argon2Job
  readonly resolve: (tag: Uint8Array) => void
  readonly reject: (error: Error) => void
  /** Ends the limit on waiting. */
  stopWaiting: () => void
}

interface Thread {
  readonly worker: Worker
  /** Resolves when its memory is given back. */
  readonly ended: Promise<unknown>
  running: PendingJob | undefined
  isEnding: boolean
  stopIdling: () => void
}

/**
 * Worker threads that derive Argon2id tags: few, started when needed, and ended when idle, because
 * each holds on to the 64 MiB of its last run. All pools of a program have them in common.
 */
class Argon2Threads implements MemoryHolder {
  static readonly #of = perClock((clock) => new Argon2Threads(clock))
  readonly #clock: Clock
  /** The one that was served longest ago comes first. */
  readonly #owners = new Set<Argon2Pool>()
  readonly #threads = new Set<Thread>()
  /** Somebody else has the memory that a thread would take. */
  #givesWay = false

  private constructor(clock: Clock) {
    this.#clock = clock
    MemoryTurn.of(clock).holder = this
  }

  get isTight(): boolean {
    return [...this.#owners].some(({ isTight }) => isTight)
  }

  /** The threads of a program, with one owner more. */
  static join(clock: Clock, owner: Argon2Pool): Argon2Threads {
    const threads = Argon2Threads.#of(clock)
    threads.#owners.add(owner)
    return threads
  }

  /**
   * Runs a job, if a thread is free or may be started.
   *
   * @returns Whether it runs: it waits otherwise, for a thread that runs.
   * @throws As `checkRoom`, where no thread runs.
   */
  run(pending: PendingJob): boolean {
    const thread = this.#findThread(pending.owner)
    if (thread !== undefined) this.#run(thread, pending)
    return thread !== undefined
  }

  /** Fails what an owner has running, and ends the threads with the last owner. */
  async leave(owner: Argon2Pool, reason: Error): Promise<void> {
    this.#owners.delete(owner)
    for (const { running } of this.#threads) if (running?.owner === owner) running.reject(reason)
    if (this.#owners.size > 0) return
    const threads = [...this.#threads]
    for (const thread of threads) this.#drop(thread, reason)
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  /** Ends the threads when their runs have ended: jobs wait from now on. */
  async giveWay(): Promise<void> {
    this.#givesWay = true
    const threads = [...this.#threads]
    for (const thread of threads) if (thread.running === undefined) this.#end(thread)
    await Promise.all(threads.map(({ ended }) => ended))
  }

  goOn(): void {
    this.#givesWay = false
    this.#runNext()
  }

  #findThread(owner: Argon2Pool): Thread | undefined {
    if (this.#givesWay) return undefined
    for (const thread of this.#threads) if (isFree(thread)) return thread
    const most = Math.max(...[...this.#owners].map(({ maxThreads }) => maxThreads))
    if (this.#threads.size >= most) return undefined
    try {
      owner.checkRoom()
    } catch (error) {
      if (this.#threads.size > 0) return undefined
      throw error
    }
    return this.#start()
  }

  #start(): Thread {
    // Loaders of the main thread (tsx) would cost the worker time and memory for nothing.
    const options = { execArgv: [], resourceLimits: SMALL_HEAP }
    const worker = new Worker(ownFile('./argon2-worker.js', import.meta.url), options)
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    const thread: Thread = {
      worker,
      ended,
      running: undefined,
      isEnding: false,
      stopIdling: () => undefined,
    }
    this.#threads.add(thread)
    worker.on('message', (message: Uint8Array | { readonly trouble: string }) => {
      if (message instanceof Uint8Array) this.#finish(thread, message)
      else for (const owner of this.#owners) owner.warn(message.trouble)
    })
    worker.on('error', (cause) => this.#drop(thread, endedError(cause)))
    worker.on('exit', () => this.#drop(thread, endedError()))
    return thread
  }

  #run(thread: Thread, pending: PendingJob): void {
    thread.stopIdling()
    thread.running = pending
    thread.worker.ref()
    thread.worker.postMessage({ ...pending.job, isPatient: pending.owner.isCrowded })
  }

  #finish(thread: Thread, tag: Uint8Array): void {
    const pending = thread.running
    const next = this.#takeNext()
    if (next !== undefined) this.#run(thread, next)
    else if (this.#givesWay || pending?.owner.isShort === true) this.#end(thread)
    else this.#rest(thread)
    pending?.resolve(tag)
  }

  #takeNext(): PendingJob | undefined {
    if (this.#givesWay) return undefined
    for (const owner of this.#owners) {
      const next = owner.takeNext()
      if (next === undefined) continue
      this.#owners.delete(owner)
      this.#owners.add(owner)
      return next
    }
    return undefined
  }

  #rest(thread: Thread): void {
    thread.running = undefined
    // An idle worker does not keep the program alive.
    thread.worker.unref()
    thread.stopIdling = this.#clock.after(IDLE_MS, () => this.#end(thread))
  }

  /** Until it has ended it has its memory, and whoever comes waits for that. */
  #end(thread: Thread): void {
    thread.running = undefined
    thread.isEnding = true
    void thread.worker.terminate()
  }

  #drop(thread: Thread, error: Error): void {
    if (!this.#threads.delete(thread)) return
    thread.stopIdling()
    thread.running?.reject(error)
    this.#runNext()
  }

  /** Runs the jobs whose turn it is, as many as threads may be started for. */
  #runNext(): void {
    for (;;) {
      const owner = [...this.#owners].find(({ hasWaiting }) => hasWaiting)
      if (owner === undefined) return
      try {
        const thread = this.#findThread(owner)
        const next = thread && this.#takeNext()
        if (thread === undefined || next === undefined) return
        this.#run(thread, next)
      } catch (cause) {
        const error = cause instanceof DomainError ? cause : endedError(cause)
        this.#takeNext()?.reject(error)
      }
    }
  }
}

function isFree({ running, isEnding }: Thread): boolean {
  return running === undefined && !isEnding
}

function endedError(cause?: unknown): Error {
  return new Error('Cannot verify a password: the worker ended', { cause })
}
