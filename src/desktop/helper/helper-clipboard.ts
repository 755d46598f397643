/**
 * A system clipboard behind a helper process: what the adapters of macOS and Windows share.
 *
 * The system counts the changes of its clipboard. A helper tells the number of each change that it
 * makes for us, so our own writes are known by their numbers; that still holds when the helper was
 * started again. The newest copy wins: what was read of an older one is dropped.
 *
 * @module
 */

import { KIB } from '../../core/limits.ts'
import { messageOf } from '../../lib/describe-failure.ts'
import { SerialQueue } from '../../lib/serial-queue.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type {
  ClipboardEvents,
  ClipboardKind,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { COPY_LIMITS, type CopyLimits } from '../read-copy.ts'
import type { ClipboardDialect } from './clipboard-dialect.ts'
import { decodeClipboardState, type ClipboardState } from './clipboard-messages.ts'
import type { HelperCommand } from './helper-child.ts'
import type { HelperEvent } from './helper-message.ts'
import { HelperProcess } from './helper-process.ts'
import { isSameContent } from './is-same-content.ts'
import { readHelperCopy, type AskHelper, type HelperCopyDeps } from './read-helper-copy.ts'
import { writeOffer } from './write-offer.ts'

export interface HelperClipboardOptions {
  readonly events: ClipboardEvents
  readonly logger: Logger
  readonly clock: Clock
  readonly env: NodeJS.ProcessEnv
  /** Reports what is on the clipboard already as a copy. */
  readonly readAtStart: boolean
  readonly limits?: Partial<CopyLimits>
}

export type HelperProgram = Pick<HelperCommand, 'command' | 'args'>

interface Platform {
  readonly dialect: ClipboardDialect
  readonly helper: HelperProgram & Pick<HelperCommand, 'name' | 'readyMs' | 'explain'>
}

/** Names of formats are all that a line holds; a program may have hundreds of them. */
const MAX_LINE_BYTES: number = 256 * KIB

export class HelperClipboard implements SystemClipboard {
  readonly kind: ClipboardKind
  readonly #options: HelperClipboardOptions
  readonly #deps: HelperCopyDeps
  readonly #offers = new SerialQueue()
  readonly #reads = new SerialQueue()
  #helper: HelperProcess | undefined
  /** It ended, and is not ready again. */
  #isAway = false
  #reading = new AbortController()
  /** What the system counted last, as far as we were told. */
  #change: number | undefined
  /** Grows whenever we are told of a change. */
  #news = 0
  /** The change that put our content there. */
  #ownChange: number | undefined
  /** What we wrote last, or tried to, as long as nothing else was copied. */
  #written: OfferedContent | undefined
  /** What to offer when the helper is back. */
  #waiting: OfferedContent | undefined
  #trouble: string | undefined
  #isOffering = false
  #isClosed = false

  /** @throws {Error} When the helper does not start. The message is for people. */
  static async open(
    { dialect, helper }: Platform,
    options: HelperClipboardOptions,
  ): Promise<HelperClipboard> {
    const clipboard = new HelperClipboard(dialect, options)
    clipboard.#helper = await HelperProcess.start({
      ...helper,
      env: options.env,
      maxLineBytes: MAX_LINE_BYTES,
      clock: options.clock,
      logger: options.logger,
      onEvent: (event) => clipboard.#onEvent(event),
      onTrouble: (message) => clipboard.#onHelperTrouble(message),
    })
    await clipboard.#lookFirst()
    return clipboard
  }

  private constructor(dialect: ClipboardDialect, options: HelperClipboardOptions) {
    this.kind = dialect.kind
    this.#options = options
    const ask: AskHelper = async (action, fields) => {
      if (this.#helper === undefined) throw new Error('The clipboard helper does not run')
      return this.#helper.request(action, fields)
    }
    this.#deps = { ask, dialect, limits: { ...COPY_LIMITS, ...options.limits } }
  }

  offer(content: OfferedContent): Promise<void> {
    return this.#offers.run(() => this.#offer(content))
  }

  /** Empties the clipboard if what is on it is ours. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#reading.abort()
    await this.#offers.run(() => this.#release())
    await this.#helper?.close()
    await this.#reads.idle()
  }

  async #offer(content: OfferedContent): Promise<void> {
    if (this.#isClosed) throw new Error('The clipboard is closed')
    this.#waiting = undefined
    this.#written = content
    this.#isOffering = true
    try {
      const { outcome, change } = await writeOffer(content, this.#deps)
      // The number in an event that came right behind the reply is greater.
      if (outcome === 'overtaken' || change < (this.#change ?? 0)) {
        throw new Error('Another program copied at the same moment')
      }
      this.#reading.abort()
      this.#change = change
      this.#ownChange = change
    } catch (error) {
      if (this.#isOutOfReach()) this.#waiting = content
      throw error
    } finally {
      this.#isOffering = false
    }
    this.#report(undefined)
  }

  async #release(): Promise<void> {
    const change = this.#ownChange
    if (change === undefined || change !== this.#change) return
    try {
      await this.#deps.ask('release', { change })
    } catch (error) {
      this.#options.logger.debug('Cannot let go of the clipboard', { reason: messageOf(error) })
    }
  }

  async #lookFirst(): Promise<void> {
    const state = await this.#look()
    if (state === undefined) return
    if (this.#options.readAtStart) this.#onChanged(state)
    else this.#change = state.change
  }

  /** Learns what happened while no helper ran: a copy counts for more than what waits. */
  async #catchUp(): Promise<void> {
    const state = await this.#look()
    if (state === undefined) return
    if (state.change !== this.#change) return this.#onChanged(state)
    await this.#offers.run(async () => {
      // What fails is told by the trouble that it is.
      if (this.#waiting !== undefined) await this.#offer(this.#waiting).catch(() => undefined)
    })
  }

  /** `undefined` when we were told of something newer, or cannot know. */
  async #look(): Promise<ClipboardState | undefined> {
    const news = this.#news
    try {
      const state = decodeClipboardState(await this.#deps.ask('look'))
      return news === this.#news ? state : undefined
    } catch (error) {
      if (!this.#isOutOfReach()) this.#report(messageOf(error))
      return undefined
    }
  }

  #onEvent(event: HelperEvent): void {
    // What happens before we looked first is seen then.
    if (this.#isClosed || this.#helper === undefined) return
    if (event.event === 'ready') {
      this.#isAway = false
      void this.#catchUp()
    }
    if (event.event !== 'changed') return
    try {
      this.#onChanged(decodeClipboardState(event))
    } catch (error) {
      const reason = messageOf(error)
      this.#options.logger.debug('A clipboard helper told of a change wrongly', { reason })
    }
  }

  #onHelperTrouble(message: string | undefined): void {
    if (message !== undefined && this.#helper?.pid === undefined) this.#isAway = true
    this.#report(message)
  }

  #onChanged(state: ClipboardState): void {
    this.#news += 1
    if (state.change === this.#change) return
    this.#change = state.change
    this.#waiting = undefined
    this.#reading.abort()
    // While something of ours is being written, only its content tells whose the change is.
    const isUnasked = this.#isOffering
    if (!isUnasked && !this.#options.events.isWanted()) {
      this.#written = undefined
      return
    }
    this.#reading = new AbortController()
    const { signal } = this.#reading
    void this.#reads.run(() => this.#read(state, isUnasked, signal))
  }

  async #read(state: ClipboardState, isUnasked: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    try {
      const copy = await readHelperCopy(state, signal, this.#deps)
      if (signal.aborted || copy === undefined) return
      this.#change = copy.change
      this.#report(undefined)
      const { content } = copy
      // Some programs that keep a history take over whatever is on the clipboard.
      if (content === undefined || isSameContent(this.#written, content)) return
      this.#written = undefined
      if (!isUnasked || this.#options.events.isWanted()) this.#options.events.onCopy(content)
    } catch (error) {
      if (signal.aborted) return
      const reason = messageOf(error)
      this.#options.logger.debug('Cannot read what was copied', { reason })
      // It is read when the helper is back.
      if (this.#isOutOfReach()) this.#change = undefined
      else this.#report(reason)
    }
  }

  #isOutOfReach(): boolean {
    return this.#isAway || this.#helper?.pid === undefined
  }

  #report(trouble: string | undefined): void {
    if (this.#isClosed || trouble === this.#trouble) return
    this.#trouble = trouble
    this.#options.events.onTrouble(trouble)
  }
}
