/**
 * A system clipboard behind a helper process: what the adapters of macOS and Windows share.
 *
 * The system counts the changes of its clipboard. A helper tells the number of each change that it
 * makes for us, so our own writes are known by their numbers; that still holds when the helper was
 * started again. The newest copy wins: what was read of an older one is dropped.
 * @module
 */

import { KIB } from '../../core/limits.ts'
import { messageOf } from '../../lib/describe-failure.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import type {
  ClipboardKind,
  ClipboardOwner,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { ClipboardHeld, OutOfReach } from '../clipboard-errors.ts'
import { nextRetry } from '../../lib/back-off.ts'
import { COPY_LIMITS, type AdapterOptions } from '../read-copy.ts'
import { decodeClipboardState, type ClipboardState } from './clipboard-messages.ts'
import { sweepExchangeFiles } from './exchange-file.ts'
import type { HelperCommand } from './helper-child.ts'
import type { HelperEvent } from './helper-message.ts'
import { HelperProcess } from './helper-process.ts'
import {
  readHelperCopy,
  writeHelperOffer,
  type AskHelper,
  type ClipboardDialect,
  type HelperRequestDeps,
} from './helper-requests.ts'

/** The surroundings of a clipboard behind a helper. */
export interface HelperClipboardOptions extends AdapterOptions {
  readonly env: NodeJS.ProcessEnv
}

export type HelperProgram = Pick<HelperCommand, 'command' | 'args'>

interface Platform {
  readonly dialect: ClipboardDialect
  readonly helper: HelperProgram & Pick<HelperCommand, 'name' | 'explain'>
}

/** Names of formats are all that a line holds; a program may have hundreds of them. */
const MAX_LINE_BYTES: number = 256 * KIB

/** The clipboard of a system whose helper runs. */
export class HelperClipboard implements SystemClipboard {
  readonly kind: ClipboardKind
  readonly #options: HelperClipboardOptions
  readonly #deps: HelperRequestDeps
  readonly #writes = new Semaphore(1)
  #helper: HelperProcess | undefined
  /** The last change, as far as we know; `undefined` when it is to be read again. */
  #state: ClipboardState | undefined
  /** Grows whenever the helper tells of a change. */
  #news = 0
  /** The change that put our content there. */
  #ownChange: number | undefined
  /** The helper ended, and is not ready again. */
  #isAway = false
  /** How long was waited for a program that has the clipboard open. */
  #waitedMs: number | undefined
  #cancelWait: (() => void) | undefined
  #isClosed = false

  /** @throws {Error} When the helper does not start. The message is for people. */
  static async open(
    { dialect, helper }: Platform,
    options: HelperClipboardOptions,
  ): Promise<HelperClipboard> {
    await sweepExchangeFiles()
    const clipboard = new HelperClipboard(dialect, options)
    clipboard.#helper = await HelperProcess.start({
      ...helper,
      env: options.env,
      maxLineBytes: MAX_LINE_BYTES,
      clock: options.clock,
      logger: options.logger,
      onEvent: (event) => clipboard.#onEvent(event),
      onTrouble: (message) => clipboard.#onTrouble(message),
    })
    const state = await clipboard.#look()
    if (state !== undefined && options.readAtStart) {
      const isEmpty = state.types.length + state.denied.length === 0
      clipboard.#onChanged(state, isEmpty ? 'nobody' : 'found')
    }
    clipboard.#state ??= state
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

  async read(signal: AbortSignal): Promise<CopiedContent | 'overtaken' | undefined> {
    const state = this.#state
    if (state === undefined) return 'overtaken'
    try {
      const copy = await readHelperCopy(state, signal, this.#deps)
      if (copy === undefined || state !== this.#state) return 'overtaken'
      this.#state = { ...state, change: copy.change }
      this.#waitedMs = undefined
      return copy.content
    } catch (error) {
      if (error instanceof ClipboardHeld) {
        this.#waitForHolder(error, () => this.#options.events.onChange('another'))
      }
      if (!this.#isOutOfReach()) throw error
      // The change is announced again when the helper is back.
      this.#state = undefined
      throw new OutOfReach(messageOf(error))
    }
  }

  write(content: OfferedContent): Promise<void> {
    return this.#writes.run(async () => {
      if (this.#isClosed) throw new Error('The clipboard is closed')
      try {
        const { outcome, change } = await writeHelperOffer(content, this.#deps)
        // The number in an event that came right behind the reply is greater.
        if (outcome === 'overtaken' || change < (this.#state?.change ?? 0)) {
          throw new Error('Another program copied at the same moment')
        }
        this.#state = { change, types: [], denied: [] }
        this.#ownChange = change
        this.#waitedMs = undefined
      } catch (error) {
        if (error instanceof ClipboardHeld) {
          this.#waitForHolder(error, () => this.#options.events.onBack(false))
        }
        throw this.#isOutOfReach() ? new OutOfReach(messageOf(error)) : error
      }
    })
  }

  /** Empties the clipboard if what is on it is ours. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelWait?.()
    await this.#writes.run(() => this.#release())
    await this.#helper?.close()
  }

  /** Programs hold it for a moment, unless they hang. What somebody copies meanwhile counts. */
  #waitForHolder(held: ClipboardHeld, again: () => void): void {
    const state = this.#state
    this.#options.events.onTrouble(held.message)
    this.#cancelWait?.()
    if (this.#isClosed) return
    this.#waitedMs = nextRetry(this.#waitedMs)
    this.#cancelWait = this.#options.clock.after(this.#waitedMs, () => {
      if (state?.change === this.#state?.change) again()
    })
  }

  async #release(): Promise<void> {
    const change = this.#ownChange
    if (change === undefined || change !== this.#state?.change) return
    try {
      await this.#deps.ask('release', { change })
    } catch (error) {
      this.#options.logger.debug('Cannot let go of the clipboard', { reason: messageOf(error) })
    }
  }

  /** Learns what happened while no helper ran: a copy counts for more than what waits. */
  async #catchUp(): Promise<void> {
    const state = await this.#look()
    if (state === undefined || this.#isClosed) return
    if (state.change === this.#state?.change) this.#options.events.onBack(false)
    else this.#onChanged(state, 'found')
  }

  /** `undefined` when the helper has announced something newer, or cannot say. */
  async #look(): Promise<ClipboardState | undefined> {
    const news = this.#news
    try {
      const state = decodeClipboardState(await this.#deps.ask('look'))
      return news === this.#news ? state : undefined
    } catch (error) {
      if (!this.#isOutOfReach()) this.#options.events.onTrouble(messageOf(error))
      return undefined
    }
  }

  #onEvent(event: HelperEvent): void {
    // The first look sees what happens before it.
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
      this.#options.logger.debug('A clipboard helper reported a malformed change', { reason })
    }
  }

  #onTrouble(message: string | undefined): void {
    if (message !== undefined && this.#helper?.pid === undefined) this.#isAway = true
    this.#options.events.onTrouble(message)
  }

  #onChanged(state: ClipboardState, owner: ClipboardOwner = 'another'): void {
    this.#news += 1
    if (state.change === this.#state?.change) return
    this.#state = state
    this.#options.events.onChange(owner)
  }

  #isOutOfReach(): boolean {
    return this.#isAway || this.#helper?.pid === undefined
  }
}
