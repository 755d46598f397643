/**
 * One open event stream (`text/event-stream`, the WHATWG's server-sent events). A client that
 * missed something because it did not read is told so.
 * @module
 */

import { LiveStream } from './live-stream.ts'
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

/** An event stream. */
export class EventStream extends LiveStream {
  readonly #resync: () => Uint8Array

  /**
   * @param resync Makes the frame that says that frames were left out.
   * @param onGone Called once when the client is gone; not after `end`.
   */
  constructor(wire: Wire, resync: () => Uint8Array, onGone: () => void) {
    super(wire, onGone)
    this.#resync = resync
  }

  beat(): void {
    this.ping(PING)
  }

  protected override catchUp(frame: Uint8Array): Uint8Array {
    return Buffer.concat([frame, this.#resync()])
  }
}
