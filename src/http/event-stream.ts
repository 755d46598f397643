/**
 * Open event streams (`text/event-stream`, the WHATWG's server-sent events), and lists of them.
 *
 * A client that does not read costs one frame of memory: a later frame takes the place of the one
 * that waits, and when the client reads again it is told that it missed something.
 * @module
 */

import type { Clock } from '../lib/clock.ts'
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

/** One open event stream. */
export class EventStream {
  readonly #wire: Wire
  readonly #resync: () => Uint8Array
  #isWriting = false
  #isEnded = false
  #pending: Uint8Array | undefined = undefined
  #hasMissed = false

  /**
   * @param resync Makes the frame that says that frames were left out.
   * @param onGone Called once when the client is gone; not after `end`.
   */
  constructor(wire: Wire, resync: () => Uint8Array, onGone: () => void) {
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

/** How a list treats its streams. */
export interface EventStreamListOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Pause between two pings, in milliseconds. */
  readonly heartbeatMs: number
  /** Streams of one owner; one more ends the oldest. */
  readonly maxPerOwner: number
  /** Makes the frame that says that frames were left out. */
  readonly resync: () => Uint8Array
  /** Called when streams were opened or have ended. */
  readonly onCount: () => void
  /** Called with each ping. */
  readonly onBeat?: () => void
}

/**
 * The open event streams of owners who may have a few each: the newest stay, all are pinged, and
 * no timer runs while there is none.
 */
export class EventStreamList {
  readonly #options: EventStreamListOptions
  /** Oldest first. No entry is empty. */
  readonly #byOwner = new Map<string, readonly EventStream[]>()
  #cancelBeat: (() => void) | undefined = undefined
  #isClosed = false

  constructor(options: EventStreamListOptions) {
    this.#options = options
  }

  /** Open streams of an owner. */
  count(owner: string): number {
    return this.#byOwner.get(owner)?.length ?? 0
  }

  /** Whether no stream is open. */
  get isEmpty(): boolean {
    return this.#byOwner.size === 0
  }

  /**
   * Opens a stream.
   *
   * @returns `undefined` once the list is closed; the wire has been ended then.
   */
  open(owner: string, wire: Wire): EventStream | undefined {
    if (this.#isClosed) {
      wire.end()
      return undefined
    }
    const { resync, maxPerOwner, onCount } = this.#options
    const stream = new EventStream(wire, resync, () => this.#remove(owner, stream))
    const streams = [...(this.#byOwner.get(owner) ?? []), stream]
    this.#byOwner.set(owner, streams.slice(-maxPerOwner))
    for (const oldest of streams.slice(0, -maxPerOwner)) oldest.end()
    this.#cancelBeat ??= this.#scheduleBeat()
    onCount()
    return stream
  }

  /** Sends a frame on every stream. */
  send(frame: Uint8Array): void {
    this.#each((stream) => stream.send(frame))
  }

  /** Ends the streams of an owner. */
  end(owner: string): void {
    const streams = this.#byOwner.get(owner) ?? []
    this.#byOwner.delete(owner)
    for (const stream of streams) stream.end()
    this.#onFewer()
  }

  /** Ends all streams that are open. */
  endAll(): void {
    for (const owner of [...this.#byOwner.keys()]) this.end(owner)
  }

  /** Ends all streams, and from now on each new one at once. */
  close(): void {
    this.#isClosed = true
    this.endAll()
  }

  #remove(owner: string, stream: EventStream): void {
    const left = (this.#byOwner.get(owner) ?? []).filter((other) => other !== stream)
    if (left.length > 0) this.#byOwner.set(owner, left)
    else this.#byOwner.delete(owner)
    this.#onFewer()
  }

  #onFewer(): void {
    if (this.isEmpty) {
      this.#cancelBeat?.()
      this.#cancelBeat = undefined
    }
    this.#options.onCount()
  }

  #scheduleBeat(): () => void {
    const { clock, heartbeatMs, onBeat } = this.#options
    return clock.after(heartbeatMs, () => {
      this.#cancelBeat = this.#scheduleBeat()
      this.#each((stream) => stream.ping())
      onBeat?.()
    })
  }

  #each(visit: (stream: EventStream) => void): void {
    for (const streams of this.#byOwner.values()) streams.forEach(visit)
  }
}
