/**
 * Worker threads that derive Argon2id tags: few, started when needed, and ended when idle, because
 * each holds on to the 64 MiB of its last run. All pools of a program have them in common.
 * @module
 */

import { Worker, type ResourceLimits } from 'node:worker_threads'
import { DomainError } from '../core/domain-error.ts'
import { perClock, type Clock } from '../lib/clock.ts'
import { MemoryTurn, type MemoryHolder } from '../lib/memory-turn.ts'
import { ownFile } from '../lib/program-files.ts'
import type { Argon2Job } from './phc-string.ts'

/** A worker without work ends after this time, and gives its memory back. */
const IDLE_MS = 5_000

/** A few kilobytes of program. The memory of a run lies outside of what this limits. */
const HEAP_LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }

/** A job, and who asked for it. */
export interface PendingJob {
  readonly owner: ThreadOwner
  readonly job: Argon2Job
  readonly resolve: (tag: Uint8Array) => void
  readonly reject: (error: Error) => void
}

/** Who has jobs for the threads. */
export interface ThreadOwner {
  /** How many threads there may be; the one that allows most decides. */
  readonly maxThreads: number
  /** Whether many of its jobs wait, so that the threads leave processor time to others. */
  readonly isCrowded: boolean
  /** Whether so little memory is left that an idle thread has to give its own back at once. */
  readonly isShort: boolean
  /** Whether the limit on memory is too low for a login and a long text at the same time. */
  readonly isTight: boolean
  /** Whether jobs of its own wait. */
  readonly hasWaiting: boolean
  /** Takes the job whose turn it is out of its queue. */
  takeNext(): PendingJob | undefined
  /** @throws {DomainError} Why no thread may be started for its jobs. */
  checkRoom(): void
  /** Hears why a thread does not use the kernel. */
  warn(reason: string): void
}

interface Thread {
  readonly worker: Worker
  /** Resolves when its memory is given back. */
  readonly ended: Promise<unknown>
  running: PendingJob | undefined
  /** It was told to end. */
  isEnding: boolean
  stopIdling: () => void
}

/** The threads that the owners have in common. */
export class Argon2Threads implements MemoryHolder {
  static readonly #of = perClock((clock) => new Argon2Threads(clock))
  readonly #clock: Clock
  /** The one that was served longest ago comes first. */
  readonly #owners = new Set<ThreadOwner>()
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
  static join(clock: Clock, owner: ThreadOwner): Argon2Threads {
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
  async leave(owner: ThreadOwner, reason: Error): Promise<void> {
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

  #findThread(owner: ThreadOwner): Thread | undefined {
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
    const options = { execArgv: [], resourceLimits: HEAP_LIMITS }
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
