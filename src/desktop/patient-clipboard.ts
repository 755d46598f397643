/** Opens the clipboard of a system, and tries again for ever while that fails. @module */

import { messageOf } from '../lib/describe-failure.ts'
import type { Clock } from '../lib/clock.ts'
import type {
  ClipboardEvents,
  ClipboardKind,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../ports/system-clipboard.ts'
import { OutOfReach } from './clipboard-errors.ts'
import { nextRetry } from '../lib/back-off.ts'

type OpenSystem = (events: ClipboardEvents) => Promise<SystemClipboard>

/** A clipboard that is out of reach until it could be opened. */
export class PatientClipboard implements Omit<SystemClipboard, 'kind'> {
  readonly #events: ClipboardEvents
  readonly #clock: Clock
  readonly #openSystem: OpenSystem
  #system: SystemClipboard | undefined
  /** The last attempt, also while it is under way. It does not reject. */
  #attempt: Promise<void> = Promise.resolve()
  #reason = ''
  #waitedMs: number | undefined
  #cancelRetry: (() => void) | undefined
  #isClosed = false

  /** Returns after the first attempt, however that ended. */
  static async open(
    openSystem: OpenSystem,
    { events, clock }: { readonly events: ClipboardEvents; readonly clock: Clock },
  ): Promise<PatientClipboard> {
    const clipboard = new PatientClipboard(openSystem, events, clock)
    await clipboard.#tryOnce()
    return clipboard
  }

  private constructor(openSystem: OpenSystem, events: ClipboardEvents, clock: Clock) {
    this.#openSystem = openSystem
    this.#events = events
    this.#clock = clock
  }

  /** The system whose clipboard it is; `undefined` until that could be opened. */
  get kind(): ClipboardKind | undefined {
    return this.#system?.kind
  }

  async read(signal: AbortSignal): Promise<CopiedContent | 'overtaken' | undefined> {
    return (await this.#opened()).read(signal)
  }

  async write(content: OfferedContent): Promise<void> {
    return (await this.#opened()).write(content)
  }

  async convert(content: OfferedContent, signal: AbortSignal): Promise<OfferedContent | undefined> {
    return this.#system?.convert?.(content, signal)
  }

  confirm(seen: 'ours' | 'foreign'): void {
    this.#system?.confirm?.(seen)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry?.()
    await this.#attempt
    await this.#system?.close()
  }

  /** @throws {OutOfReach} until it could be opened. */
  async #opened(): Promise<SystemClipboard> {
    await this.#attempt
    if (this.#system === undefined) throw new OutOfReach(this.#reason)
    return this.#system
  }

  #tryOnce(): Promise<void> {
    this.#attempt = this.#open()
    return this.#attempt
  }

  async #open(): Promise<void> {
    const isFirst = this.#waitedMs === undefined
    let trouble: string | undefined
    const events: ClipboardEvents = {
      ...this.#events,
      onTrouble: (message) => {
        trouble = message
        this.#events.onTrouble(message)
      },
    }
    try {
      this.#system = await this.#openSystem(events)
    } catch (error) {
      this.#reason = messageOf(error)
      if (this.#isClosed) return
      this.#events.onLost(this.#reason)
      this.#waitedMs = nextRetry(this.#waitedMs)
      this.#cancelRetry = this.#clock.after(this.#waitedMs, () => void this.#tryOnce())
      return
    }
    if (isFirst || this.#isClosed) return
    if (trouble === undefined) this.#events.onTrouble(undefined)
    this.#events.onBack(true)
  }
}
