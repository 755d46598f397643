/**
 * Keeps a helper process running: a program that speaks the line protocol of `helper-message.ts`
 * and watches a clipboard for an adapter.
 * A helper that ends is started again, after longer and longer pauses; one that has said `renewal`,
 * at once and quietly. It never keeps the adapter
 * waiting for ever, and what it writes is bounded and never logged.
 * @module
 */

import { describeFailure, messageOf } from '../../lib/describe-failure.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { LONGEST_RETRY_MS, nextRetry } from '../../lib/back-off.ts'
import { HelperChild, type HelperCommand } from './helper-child.ts'
import {
  formatHelperRequest,
  parseHelperMessage,
  type HelperEvent,
  type HelperMessage,
} from './helper-message.ts'

/** A helper, and who hears of it. */
export interface HelperProcessOptions extends HelperCommand {
  readonly clock: Clock
  readonly logger: Logger
  /**
   * For a helper that cannot say `ready` itself: resolves when it is. A rejection ends this run of
   * the helper, and its message is the reason.
   */
  readonly untilReady?: (signal: AbortSignal) => Promise<void>
  /** `ready` after every start, also the first, and everything else that is no trouble or reply. */
  readonly onEvent: (event: HelperEvent) => void
  /** Gets each new trouble; `undefined` when it is over. Never called by `start`. */
  readonly onTrouble: (message: string | undefined) => void
}

interface Pending {
  readonly resolve: (fields: Record<string, unknown>) => void
  readonly reject: (error: Error) => void
  readonly cancelTimeout: () => void
}

const READY_MS = 10_000
const REPLY_MS = 10_000

/** A helper that was ready for this time was well: the next wait is the first one again. */
const WELL_MS: number = LONGEST_RETRY_MS

/** Requests without a reply; an adapter asks a few at a time. */
const MAX_PENDING = 64

/** A helper that is kept running. */
export class HelperProcess {
  readonly #options: HelperProcessOptions
  readonly #pending = new Map<number, Pending>()
  #child: HelperChild | undefined
  #run = new AbortController()
  #readySince: number | undefined
  #onFirst: ((failure: Error | undefined) => void) | undefined
  #trouble: string | undefined
  #lastId = 0
  #malformed = 0
  /** The wait before the last start; `undefined` when that was the first one, or went well. */
  #waitedMs: number | undefined
  #cancelTimer: () => void = () => undefined
  /** This run has said that it ends to make room for a fresh one. */
  #isRenewal = false
  #isClosed = false

  /**
   * Starts a helper; resolves when it is ready.
   *
   * @throws {Error} When it cannot be started, ends, or is not ready within 10 s. Nothing of it is
   *   left then. The message is for people.
   */
  static async start(options: HelperProcessOptions): Promise<HelperProcess> {
    const helper = new HelperProcess(options)
    const failure = await new Promise<Error | undefined>((resolve) => {
      helper.#onFirst = resolve
      helper.#start()
    })
    if (failure === undefined) return helper
    await helper.close()
    throw failure
  }

  private constructor(options: HelperProcessOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * Asks the helper to do something, and returns all fields of its reply.
   *
   * @throws {Error} When it refuses, ends, does not run, does not read what it is sent, or does not
   *   reply within 10 s.
   */
  request(
    action: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<Record<string, unknown>> {
    const { clock, maxLineBytes } = this.#options
    const child = this.#child
    const id = ++this.#lastId
    const line = formatHelperRequest(id, action, fields)
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => reject(new Error(`"${this.#name}" ${reason}`))
      if (child === undefined || this.#readySince === undefined) return fail('does not run')
      const waitingBytes = child.waitingBytes + Buffer.byteLength(line)
      if (waitingBytes > maxLineBytes) return fail('cannot take so much')
      if (this.#pending.size >= MAX_PENDING) return fail('is asked too much at once')
      const cancelTimeout = clock.after(REPLY_MS, () => {
        this.#pending.delete(id)
        fail('does not answer')
      })
      this.#pending.set(id, { resolve, reject, cancelTimeout })
      child.write(line)
    })
  }

  /** Ends the helper. Nothing is called back afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer()
    this.#stopRun('was closed')
    await this.#child?.close()
  }

  get #name(): string {
    return this.#options.name ?? this.#options.command
  }

  #start(): void {
    const { clock } = this.#options
    const run = new AbortController()
    this.#run = run
    this.#readySince = undefined
    this.#isRenewal = false
    this.#cancelTimer = clock.after(READY_MS, () => {
      this.#child?.kill(`"${this.#name}" does not become ready`)
    })
    try {
      this.#child = new HelperChild({
        ...this.#options,
        onLine: (line) => this.#onLine(line),
        onRefused: () => this.#onMalformed(),
        onEnded: (reason) => this.#onEnded(reason),
      })
    } catch (error) {
      this.#onEnded(`Cannot start "${this.#name}": ${describeFailure(error).reason}`)
      return
    }
    this.#options.untilReady?.(run.signal).then(
      () => run.signal.aborted || this.#onReady({ event: 'ready' }),
      (error: unknown) => run.signal.aborted || this.#child?.kill(messageOf(error)),
    )
  }

  #onLine(line: Uint8Array): void {
    if (this.#isClosed) return
    const message = parseHelperMessage(line)
    if (message === undefined) this.#onMalformed()
    else this.#onMessage(message)
  }

  #onMessage(message: HelperMessage): void {
    switch (message.kind) {
      case 'event':
        if (message.event.event === 'ready') this.#onReady(message.event)
        else if (message.event.event === 'renewal') this.#isRenewal = true
        else this.#options.onEvent(message.event)
        return
      case 'trouble':
        return this.#report(message.message)
      case 'reply':
        return this.#take(message.id)?.resolve(message.fields)
      case 'refusal':
        return this.#take(message.id)?.reject(new Error(message.error))
    }
  }

  #onReady(event: HelperEvent): void {
    if (this.#isClosed || this.#readySince !== undefined) return
    this.#readySince = this.#options.clock.monotonic()
    this.#cancelTimer()
    this.#report(undefined)
    this.#onFirst?.(undefined)
    this.#onFirst = undefined
    this.#options.onEvent(event)
  }

  /** The reply to a request that was given up meanwhile is of no use. */
  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    pending?.cancelTimeout()
    return pending
  }

  #onMalformed(): void {
    this.#malformed += 1
    if (this.#malformed > 1) return
    const name = this.#name
    this.#options.logger.warn('A clipboard helper wrote a line that makes no sense', { name })
  }

  #onEnded(reason: string): void {
    const { clock, logger } = this.#options
    const readySince = this.#readySince
    this.#child = undefined
    this.#cancelTimer()
    this.#stopRun('ended')
    logger.debug('A clipboard helper ended', { name: this.#name, reason })
    if (this.#isClosed) return
    if (this.#onFirst !== undefined) return this.#onFirst(new Error(reason))
    const wasWell = readySince !== undefined && clock.monotonic() - readySince >= WELL_MS
    if (this.#isRenewal && wasWell) return this.#start()
    // The first reason tells most: later ones are those of starts that fail.
    this.#report(this.#trouble ?? reason)
    this.#waitedMs = nextRetry(wasWell ? undefined : this.#waitedMs)
    this.#cancelTimer = clock.after(this.#waitedMs, () => this.#start())
  }

  #stopRun(why: string): void {
    this.#readySince = undefined
    this.#run.abort()
    for (const id of [...this.#pending.keys()]) {
      this.#take(id)?.reject(new Error(`"${this.#name}" ${why}`))
    }
  }

  #report(trouble: string | undefined): void {
    if (this.#isClosed || trouble === this.#trouble) return
    this.#trouble = trouble
    this.#options.onTrouble(trouble)
  }
}
