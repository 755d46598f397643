/**
 * One open event stream (`text/event-stream`, the WHATWG's server-sent events).
 *
 * A client that does not read costs one frame of memory: a later frame takes the place of the one
 * that waits, and when the client reads again it is told that it missed something.
 * @module
 */

import type { Wire } from './reply.ts'

/** Keeps proxies and time-outs from taking a quiet stream for a dead one. */
const PING: Uint8Array = Buffer.from(': ping\n\n')

/** Headers of the answer; proxies must neither keep nor collect nor change what comes. */
export const EVENT_STREAM_HEADERS: readonly string[] = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  'X-Accel-Buffering',
  'no',
]

/** Encodes one event. `data` must become JSON without line breaks, as `stringify` makes it. */
export function encodeEvent(name: string, data: unknown): Uint8Array {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}

export interface EventStreamOptions {
  /** Makes the frame that says that frames were left out. */
  readonly resync: () => Uint8Array
  /** Called once when the client is gone; not after `end`. */
  readonly onGone: () => void
}

export class EventStream {
  readonly #wire: Wire
  readonly #resync: () => Uint8Array
  #isWriting = false
  #isEnded = false
  #pending: Uint8Array | undefined = undefined
  #hasMissed = false

  constructor(wire: Wire, { resync, onGone }: EventStreamOptions) {
    this.#wire = wire
    this.#resync = resync
    wire.onGone(() => {
      this.#isEnded = true
      onGone()
    })
  }

  send(frame: Uint8Array): void {
    if (this.#isEnded) return
    if (!this.#isWriting) {
      this.#write(frame)
      return
    }
    if (this.#pending !== undefined) this.#hasMissed = true
    this.#pending = frame
  }

  /** Nothing to be late for: a stream that is being written to is alive. */
  ping(): void {
    if (!this.#isEnded && !this.#isWriting) this.#write(PING)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#wire.end()
  }

  #write(frame: Uint8Array): void {
    this.#isWriting = true
    this.#wire.write(frame, () => this.#onWritten())
  }

  #onWritten(): void {
    this.#isWriting = false
    const frame = this.#pending
    if (frame === undefined || this.#isEnded) return
    this.#pending = undefined
    const frames = this.#hasMissed ? [frame, this.#resync()] : [frame]
    this.#hasMissed = false
    this.#write(frames.length === 1 ? frame : Buffer.concat(frames))
  }
}
