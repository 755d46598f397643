/**
 * The clipboard of an X11 desktop: the selection `CLIPBOARD`, never `PRIMARY`, which changes with
 * every word that is marked.
 *
 * Events of the XFIXES extension tell about copies; nothing is polled and no tool is run. When the
 * X server is lost, the clipboard comes back by itself as soon as the server does.
 * @module
 */

import { messageOf } from '../../lib/describe-failure.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type {
  ClipboardEvents,
  ClipboardOwner,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { OutOfReach } from '../clipboard-errors.ts'
import { COPY_LIMITS, type CopyLimits } from '../read-copy.ts'
import { nextRetry } from '../retry.ts'
import { XSession } from './x-session.ts'

/** How the clipboard is opened. */
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

const AWAY = 'The X server is away'

/** The clipboard of an X server. */
export class X11Clipboard implements SystemClipboard {
  readonly kind = 'x11'
  readonly #options: X11ClipboardOptions
  readonly #display: string
  /** `undefined` while the server is away. */
  #session: XSession | undefined
  /** The last change of the owner, in server time. */
  #changedAt = 0
  /** Grows with every change of the owner. */
  #changes = 0
  #cancelRetry: () => void = () => undefined
  /** An attempt to reach the server again. */
  #attempt: Promise<void> = Promise.resolve()
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

  read(signal: AbortSignal): Promise<CopiedContent | undefined> {
    return this.#inReach((session) => session.read(this.#changedAt, signal))
  }

  write(content: OfferedContent): Promise<void> {
    return this.#inReach((session) => session.offer(content))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry()
    await this.#session?.close()
    await this.#attempt
  }

  /** @throws {OutOfReach} When the server was away, or went away meanwhile. */
  async #inReach<T>(use: (session: XSession) => Promise<T>): Promise<T> {
    const session = this.#session
    if (session === undefined) throw new OutOfReach(AWAY)
    try {
      return await use(session)
    } catch (error) {
      throw session === this.#session ? error : new OutOfReach(messageOf(error))
    }
  }

  async #connect(): Promise<XSession> {
    const { clock, logger, limits } = this.#options
    const session = await XSession.open({
      display: this.#display,
      clock,
      logger,
      limits: { ...COPY_LIMITS, ...limits },
      onOwnerChanged: (owner, time) => this.#onOwnerChanged(owner, time),
      onClosed: (reason) => this.#onLost(reason),
    })
    this.#session = session
    return session
  }

  #onOwnerChanged(owner: ClipboardOwner, time: number): void {
    if (this.#isClosed) return
    this.#changes += 1
    this.#changedAt = time
    this.#options.events.onChange(owner)
  }

  #onLost(reason: Error): void {
    if (this.#isClosed) return
    this.#session = undefined
    this.#options.logger.debug('Lost the X server', { reason: reason.message })
    this.#options.events.onLost(AWAY)
    this.#retryAfter(undefined)
  }

  #retryAfter(lastMs: number | undefined): void {
    const delayMs = nextRetry(lastMs)
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
      this.#options.events.onTrouble(undefined)
      await this.#catchUp(session, changes)
    } catch (error) {
      if (this.#isClosed) return
      this.#options.logger.debug('The X server is still away', { reason: messageOf(error) })
      this.#retryAfter(delayMs)
    }
  }

  /**
   * Learns what happened before we watched: a copy counts for more than what we would offer.
   *
   * @param changes How many changes were known then: later ones are dealt with already.
   */
  async #catchUp(session: XSession, changes: number): Promise<void> {
    if (session.firstOwner !== 'another') return this.#options.events.onBack(true)
    try {
      const time = await session.serverTime()
      if (changes === this.#changes) this.#onOwnerChanged('another', time)
    } catch (error) {
      this.#options.logger.debug('Cannot catch up with the clipboard', { reason: messageOf(error) })
    }
  }
}
