/**
 * The clipboard of an X11 desktop: the selection `CLIPBOARD`, never `PRIMARY`, which changes with
 * every word that is marked.
 *
 * Events of the XFIXES extension tell about copies; nothing is polled and no tool is run. When the
 * X server is lost, it comes back by itself as soon as the server does.
 *
 * @module
 */

import { messageOf } from '../../lib/describe-failure.ts'
import { SerialQueue } from '../../lib/serial-queue.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type {
  ClipboardEvents,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { COPY_LIMITS, type CopyLimits } from '../read-copy.ts'
import { XSession, type OwnerChange, type XTimings } from './x-session.ts'

export interface X11ClipboardOptions {
  /** Name of the display; that of the environment (`DISPLAY`) when absent. */
  readonly display?: string | undefined
  readonly events: ClipboardEvents
  readonly logger: Logger
  readonly clock: Clock
  /** Reports what is on the clipboard already as a copy. */
  readonly readAtStart: boolean
  readonly limits?: Partial<CopyLimits>
}

const TIMINGS: XTimings = { answerMs: 2000, stallMs: 10_000 }

/** First and longest pause before another attempt to reach a lost server. */
const FIRST_RETRY_MS = 300
const LAST_RETRY_MS = 30_000

export class X11Clipboard implements SystemClipboard {
  readonly kind = 'x11'
  readonly #options: X11ClipboardOptions
  readonly #display: string
  readonly #offers = new SerialQueue()
  /** `undefined` while the server is away. */
  #session: XSession | undefined
  #reading = new AbortController()
  /** What others should be able to paste, as far as we know. */
  #offered: OfferedContent | undefined
  #trouble: string | undefined
  #cancelRetry: () => void = () => undefined
  /** An attempt to reach the server again. */
  #attempt: Promise<void> = Promise.resolve()
  /** Grows with every change of the owner. */
  #changes = 0
  #isClosed = false

  /**
   * @throws {Error} When there is no X server, it does not answer within 2 s, it lacks XFIXES, or
   *   the package `x11` is not installed. The message is for people.
   */
  static async open(options: X11ClipboardOptions): Promise<X11Clipboard> {
    const display = options.display ?? process.env['DISPLAY'] ?? ''
    if (display === '') throw new Error('There is no X display: DISPLAY is not set')
    const clipboard = new X11Clipboard(options, display)
    const session = await clipboard.#connect()
    if (options.readAtStart) void clipboard.#catchUp(session, 0)
    return clipboard
  }

  private constructor(options: X11ClipboardOptions, display: string) {
    this.#options = options
    this.#display = display
  }

  /**
   * @throws {Error} When another program copied at the same moment, or the server is away; in the
   *   second case `content` is offered when it is back, if the clipboard is empty then.
   */
  offer(content: OfferedContent): Promise<void> {
    return this.#offers.run(() => this.#offer(content))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry()
    this.#reading.abort()
    await this.#session?.close()
    await this.#attempt
  }

  async #offer(content: OfferedContent): Promise<void> {
    const session = this.#session
    try {
      if (session === undefined) throw new Error('The X server is away')
      await session.offer(content)
    } catch (error) {
      const isAway = session === undefined || session !== this.#session
      this.#offered = isAway ? content : undefined
      throw error
    }
    this.#offered = content
    this.#report(undefined)
  }

  async #connect(): Promise<XSession> {
    const { clock, logger, limits } = this.#options
    const session = await XSession.open({
      display: this.#display,
      clock,
      logger,
      timings: TIMINGS,
      limits: { ...COPY_LIMITS, ...limits },
      onOwnerChanged: (session, change) => this.#onOwnerChanged(session, change),
      onClosed: (reason) => this.#onLost(reason),
    })
    this.#session = session
    return session
  }

  #onOwnerChanged(session: XSession, { owner, time }: OwnerChange): void {
    if (this.#isClosed) return
    this.#changes += 1
    this.#reading.abort()
    this.#offered = undefined
    if (owner !== 'another') return
    if (this.#options.events.isWanted()) void this.#read(session, time)
  }

  async #read(session: XSession, time: number): Promise<void> {
    this.#reading = new AbortController()
    const { signal } = this.#reading
    try {
      const copied = await session.read(time, signal)
      if (signal.aborted) return
      this.#report(undefined)
      if (copied !== undefined) this.#options.events.onCopy(copied)
    } catch (error) {
      if (signal.aborted) return
      const reason = messageOf(error)
      this.#options.logger.debug('Cannot read what was copied', { reason })
      this.#report(reason)
    }
  }

  #onLost(reason: Error): void {
    if (this.#isClosed) return
    this.#session = undefined
    this.#reading.abort()
    this.#options.logger.debug('Lost the X server', { reason: reason.message })
    this.#report('The X server is away')
    this.#retryIn(FIRST_RETRY_MS)
  }

  #retryIn(delayMs: number): void {
    this.#cancelRetry = this.#options.clock.after(delayMs, () => {
      this.#attempt = this.#retry(delayMs)
    })
  }

  async #retry(delayMs: number): Promise<void> {
    const changes = this.#changes
    try {
      const session = await this.#connect()
      if (this.#isClosed) return await session.close()
      this.#options.logger.debug('The X server is back')
      this.#report(undefined)
      await this.#catchUp(session, changes)
    } catch (error) {
      if (this.#isClosed) return
      this.#options.logger.debug('The X server is still away', { reason: messageOf(error) })
      this.#retryIn(Math.min(2 * delayMs, LAST_RETRY_MS))
    }
  }

  /**
   * Learns what happened before we watched: a copy counts for more than what we would offer.
   *
   * @param changes How many changes were known then: later ones are dealt with already.
   */
  async #catchUp(session: XSession, changes: number): Promise<void> {
    try {
      if (session.firstOwner === 'another') {
        const time = await session.serverTime()
        if (changes === this.#changes) this.#onOwnerChanged(session, { owner: 'another', time })
        return
      }
      await this.#offers.run(async () => {
        if (this.#offered !== undefined) await this.#offer(this.#offered)
      })
    } catch (error) {
      this.#options.logger.debug('Cannot catch up with the clipboard', { reason: messageOf(error) })
    }
  }

  #report(trouble: string | undefined): void {
    if (this.#isClosed || trouble === this.#trouble) return
    this.#trouble = trouble
    this.#options.events.onTrouble(trouble)
  }
}
