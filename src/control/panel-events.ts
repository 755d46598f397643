/**
 * The open event streams of the panel: each gets the whole state, whenever it has changed.
 *
 * While nobody listens nothing is watched, nothing is put together, and no timer runs.
 *
 * @module
 */

import { HEARTBEAT_MS } from '../core/limits.ts'
import { EventStream } from '../http/event-stream.ts'
import type { Wire } from '../http/reply.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Panel } from '../ports/panel.ts'
import { withNulls } from './control-json.ts'
import type { PanelState } from './panel-state.ts'

/** A person sees no more states than these, and a busy phone makes more. */
const MIN_PAUSE_MS = 250

/** Windows of one person; one more ends the oldest. */
const MAX_STREAMS = 8

const NOTHING: Uint8Array = new Uint8Array()

export interface PanelEventsDeps {
  readonly readState: () => Promise<PanelState>
  readonly onChange: Panel['onChange']
  readonly clock: Clock
  readonly logger: Logger
}

export class PanelEvents {
  readonly #deps: PanelEventsDeps
  /** Readings and what is sent of them come in one order. */
  readonly #queue = new SerialQueue()
  /** Oldest first. */
  #open: readonly EventStream[] = []
  #cancelBeat: (() => void) | undefined
  #unsubscribe: (() => void) | undefined
  #cancelSend: (() => void) | undefined
  /** A reading for all streams waits for its turn; it will find what has changed until then. */
  #isWaiting = false
  /** Monotonic; when the next state may be sent. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** What all streams were sent last. */
  #sent: string | undefined
  #isClosed = false

  constructor(deps: PanelEventsDeps) {
    this.#deps = deps
  }

  /** Opens a stream, and sends the state on it. */
  open(wire: Wire): void {
    if (this.#isClosed) {
      wire.end()
      return
    }
    const stream = new EventStream(wire, {
      // The frame before it holds everything.
      resync: () => NOTHING,
      onGone: () => this.#keep((other) => other !== stream),
    })
    const all = [...this.#open, stream]
    this.#open = all.slice(-MAX_STREAMS)
    for (const oldest of all.slice(0, -MAX_STREAMS)) oldest.end()
    this.#unsubscribe ??= this.#deps.onChange(() => this.#sendSoon())
    this.#cancelBeat ??= this.#scheduleBeat()
    this.#run(async () => {
      const { text, frame } = await this.#read()
      // Where this one knows more than the others, all of them are told the next time.
      if (this.#open.length === 1) this.#sent = text
      else if (text !== this.#sent) this.#sent = undefined
      stream.send(frame)
    })
  }

  /** Ends all streams that are open. */
  endAll(): void {
    const over = this.#open
    this.#keep(() => false)
    for (const stream of over) stream.end()
  }

  /** Ends all streams, and from now on each new one at once. */
  close(): void {
    this.#isClosed = true
    this.endAll()
  }

  #sendSoon(): void {
    if (this.#cancelSend !== undefined) return
    const { clock } = this.#deps
    const wait = Math.max(0, this.#nextAt - clock.monotonic())
    this.#cancelSend = clock.after(wait, () => {
      this.#cancelSend = undefined
      this.#nextAt = clock.monotonic() + MIN_PAUSE_MS
      if (this.#isWaiting) return
      this.#isWaiting = true
      this.#run(() => this.#sendChanged())
    })
  }

  async #sendChanged(): Promise<void> {
    this.#isWaiting = false
    if (this.#open.length === 0) return
    const { text, frame } = await this.#read()
    if (text === this.#sent) return
    this.#sent = text
    for (const stream of this.#open) stream.send(frame)
  }

  async #read(): Promise<{ readonly text: string; readonly frame: Uint8Array }> {
    const { readState, clock } = this.#deps
    const text = withNulls(await readState())
    const members = `{"serverTimeMs":${clock.now()},${text.slice(1)}`
    return { text, frame: Buffer.from(`event: state\ndata: ${members}\n\n`) }
  }

  /** The page comes back, and is told by `GET /state` what is wrong. */
  #run(work: () => Promise<void>): void {
    this.#queue.run(work).catch((error: unknown) => {
      this.#deps.logger.error('Cannot tell the panel the state', { ...describeFailure(error) })
      this.endAll()
    })
  }

  #scheduleBeat(): () => void {
    return this.#deps.clock.after(HEARTBEAT_MS, () => {
      this.#cancelBeat = this.#scheduleBeat()
      for (const stream of this.#open) stream.ping()
      // The free space is nothing that anybody hears of.
      this.#sendSoon()
    })
  }

  #keep(isKept: (stream: EventStream) => boolean): void {
    this.#open = this.#open.filter(isKept)
    if (this.#open.length > 0) return
    this.#unsubscribe?.()
    this.#cancelBeat?.()
    this.#cancelSend?.()
    this.#unsubscribe = this.#cancelBeat = this.#cancelSend = undefined
    this.#sent = undefined
  }
}
