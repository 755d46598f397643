/**
 * The open event streams of the panel: each gets the whole state, whenever it has changed.
 *
 * While nobody listens nothing is watched, nothing is put together, and no timer runs.
 * @module
 */

import { OWNER_ID } from '../core/owner.ts'
import { HEARTBEAT_MS } from '../core/limits.ts'
import { EventStream, LiveStreamList } from '../http/live-streams.ts'
import type { Wire } from '../http/reply.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { Semaphore } from '../lib/semaphore.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Admin } from '../ports/admin.ts'
import type { Panel } from '../ports/panel.ts'
import { withNulls } from './control-json.ts'
import { readPanelState } from './panel-state.ts'

/** A person sees no more states than these, and a busy phone makes more. */
const MIN_PAUSE_MS = 250

/** How often a state tells how far files are that are on their way. */
const TRANSFER_PAUSE_MS = 1000

/** Windows of one person; one more ends the oldest. */
const MAX_STREAMS = 8

const NOTHING: Uint8Array = new Uint8Array()

interface PanelEventsDeps {
  readonly admin: Admin
  readonly panel: Panel
  readonly clock: Clock
  readonly logger: Logger
}

/** The open event streams of panels, which are all sent the state of the daemon as it changes. */
export class PanelEvents {
  readonly #deps: PanelEventsDeps
  /** Readings and what is sent of them come in one order. */
  readonly #queue = new Semaphore(1)
  readonly #streams: LiveStreamList<EventStream>
  #unsubscribe: (() => void) | undefined
  #cancelSend: (() => void) | undefined
  /** Runs while files are on their way. */
  #cancelLook: (() => void) | undefined
  /** A reading for all streams waits for its turn; it will find what has changed until then. */
  #isWaiting = false
  /** Monotonic; when the next state may be sent. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** The state that all streams were sent last. */
  #sent: string | undefined

  constructor(deps: PanelEventsDeps) {
    this.#deps = deps
    this.#streams = new LiveStreamList({
      clock: deps.clock,
      beatMs: HEARTBEAT_MS,
      maxPerOwner: MAX_STREAMS,
      onCount: () => this.#onCount(),
      // The free space is nothing that anybody hears of.
      onBeat: () => this.#sendSoon(),
    })
  }

  /** Opens a stream, and sends the state on it. */
  open(wire: Wire): void {
    const stream = this.#streams.open(OWNER_ID, wire, openStream)
    if (stream === undefined) return
    this.#run(async () => {
      const { text, frame } = await this.#read()
      // Where this one knows more than the others, all of them are told the next time.
      if (this.#streams.of(OWNER_ID).length === 1) this.#sent = text
      else if (text !== this.#sent) this.#sent = undefined
      stream.send(frame)
      this.#followTransfers()
    })
  }

  /** Ends all streams that are open. */
  endAll(): void {
    this.#streams.endAll()
  }

  /** Ends all streams, and from now on each new one at once. */
  close(): void {
    this.#streams.close()
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
    if (this.#streams.isEmpty) return
    const { text, frame } = await this.#read()
    this.#followTransfers()
    if (text === this.#sent) return
    this.#sent = text
    this.#streams.each((stream) => stream.send(frame))
  }

  /** How far they are nobody tells. */
  #followTransfers(): void {
    const { clock, panel } = this.#deps
    if (this.#cancelLook !== undefined || panel.transfers.list.length === 0) return
    this.#cancelLook = clock.after(TRANSFER_PAUSE_MS, () => {
      this.#cancelLook = undefined
      this.#sendSoon()
    })
  }

  async #read(): Promise<{ readonly text: string; readonly frame: Uint8Array }> {
    const { admin, panel, clock } = this.#deps
    const text = withNulls(await readPanelState(admin, panel))
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

  /** Watches while somebody listens, and only then. */
  #onCount(): void {
    if (!this.#streams.isEmpty) {
      this.#unsubscribe ??= this.#deps.panel.onChange(() => this.#sendSoon())
      return
    }
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#cancelSend?.()
    this.#cancelSend = undefined
    this.#cancelLook?.()
    this.#cancelLook = undefined
    this.#sent = undefined
  }
}

function openStream(wire: Wire, onGone: () => void): EventStream {
  // The frame before it holds everything.
  return new EventStream(wire, () => NOTHING, onGone)
}
