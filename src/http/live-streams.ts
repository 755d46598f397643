/**
 * Streams of frames to clients that listen.
 *
 * A client that does not read costs one frame of memory: a later frame takes the place of the one
 * that waits. Each client may have only so many streams: the newest ones stay, all of them hear the
 * same beat, and no timer runs while there is none.
 * @module
 */

import { GrowingBuffer } from '../lib/growing-buffer.ts'
import type { Pieces } from '../lib/long-text.ts'
import type { Clock } from '../lib/clock.ts'
import type { Wire } from './reply.ts'

/** Bytes of answers that wait for a client to read. */
const MAX_REPLY_BYTES: number = 64 * 1024

/** Memory for the first of them. */
const FIRST_REPLY_BYTES = 256

/** The bytes of a frame. */
export type Frame = Uint8Array | Pieces

/** A stream of frames of any kind to one client. */
export abstract class LiveStream {
  readonly #wire: Wire
  /** Length of the frame that is being written, if one is. */
  #writing = 0
  #isEnded = false
  #pending: Frame | undefined
  #replies: GrowingBuffer | undefined
  #hasMissed = false

  /** @param onGone Called once when the client is gone; not after `end`. */
  constructor(wire: Wire, onGone: () => void) {
    this.#wire = wire
    wire.onGone(() => {
      this.#isEnded = true
      onGone()
    })
  }

  /** Called at every beat of the list that the stream is in. */
  abstract beat(): void

  /** Sends a frame, or lets it wait in the place of an earlier one. */
  send(frame: Frame): void {
    if (this.#isEnded) return
    if (this.#writing === 0) {
      this.#write(frame)
      return
    }
    if (this.#pending !== undefined) this.#hasMissed = true
    this.#pending = frame
  }

  /** Ends the stream: whoever holds it knows, so that `onGone` is not called. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const last = this.farewell()
    if (last !== undefined) this.#wire.write(last, () => {})
    this.#wire.end()
  }

  /**
   * Sends the answer to what the client sent, or lets it wait behind earlier answers.
   *
   * @returns `false` when more of them wait than any client needs that reads.
   */
  protected reply(frame: Uint8Array): boolean {
    if (this.#isEnded) return true
    if (this.#writing === 0) {
      this.#write(frame)
      return true
    }
    this.#replies ??= new GrowingBuffer(FIRST_REPLY_BYTES)
    this.#replies.append(frame)
    return this.#replies.filled.length <= MAX_REPLY_BYTES
  }

  /** Bytes that the client is being sent at the moment. */
  protected get writing(): number {
    return this.#writing
  }

  /** Sends a frame that shows that both sides live: not to a client that is being written to. */
  protected ping(frame: Uint8Array): void {
    if (!this.#isEnded && this.#writing === 0) this.#write(frame)
  }

  /** Returns the frame to send instead of one in front of which others were left out. */
  protected catchUp(frame: Frame): Frame {
    return frame
  }

  /** The frame that ends the stream, if there is one. */
  protected farewell(): Uint8Array | undefined {
    return undefined
  }

  #write(frame: Frame): void {
    this.#writing = frame.length
    this.#wire.write(frame, () => this.#onWritten())
  }

  #onWritten(): void {
    this.#writing = 0
    if (this.#isEnded) return
    const replies = this.#replies
    if (replies !== undefined) {
      this.#replies = undefined
      this.#write(replies.filled)
      return
    }
    const frame = this.#pending
    if (frame === undefined) return
    this.#pending = undefined
    const hasMissed = this.#hasMissed
    this.#hasMissed = false
    this.#write(hasMissed ? this.catchUp(frame) : frame)
  }
}

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

/** How a list treats its streams. */
export interface LiveStreamListOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Pause between two beats, in milliseconds. */
  readonly beatMs: number
  /** Streams of one owner; one more ends the oldest. */
  readonly maxPerOwner: number
  /** Called when streams were opened or have ended. */
  readonly onCount: () => void
  /** Called with an owner, and their oldest stream before it is ended for a new one. */
  readonly onCrowded?: (owner: string, oldest: LiveStream) => void
  /** Called with each beat. */
  readonly onBeat?: () => void
}

/** Streams by their owners. */
export class LiveStreamList<Stream extends LiveStream> {
  readonly #options: LiveStreamListOptions
  /** Oldest first. No entry is empty. */
  readonly #byOwner = new Map<string, readonly Stream[]>()
  #cancelBeat: (() => void) | undefined
  #isClosed = false

  constructor(options: LiveStreamListOptions) {
    this.#options = options
  }

  /** Open streams of an owner, oldest first. */
  of(owner: string): readonly Stream[] {
    return this.#byOwner.get(owner) ?? []
  }

  /** Whether no stream is open. */
  get isEmpty(): boolean {
    return this.#byOwner.size === 0
  }

  /**
   * Opens a stream.
   *
   * @param make Makes the stream, which is to call `onGone` when its client is gone.
   * @returns `undefined` once the list is closed; the wire has been ended then.
   */
  open<Opened extends Stream>(
    owner: string,
    wire: Wire,
    make: (wire: Wire, onGone: () => void) => Opened,
  ): Opened | undefined {
    if (this.#isClosed) {
      wire.end()
      return undefined
    }
    const { maxPerOwner, onCount, onCrowded } = this.#options
    const stream = make(wire, () => this.#remove(owner, stream))
    const streams = [...this.of(owner), stream]
    this.#byOwner.set(owner, streams.slice(-maxPerOwner))
    for (const oldest of streams.slice(0, -maxPerOwner)) {
      onCrowded?.(owner, oldest)
      oldest.end()
    }
    this.#cancelBeat ??= this.#scheduleBeat()
    onCount()
    return stream
  }

  /** Visits every stream that is open. */
  each(visit: (stream: Stream) => void): void {
    for (const streams of this.#byOwner.values()) streams.forEach(visit)
  }

  /** Ends the streams of an owner. */
  end(owner: string): void {
    const streams = this.of(owner)
    if (!this.#byOwner.delete(owner)) return
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

  #remove(owner: string, stream: Stream): void {
    const left = this.of(owner).filter((other) => other !== stream)
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
    const { clock, beatMs, onBeat } = this.#options
    return clock.after(beatMs, () => {
      this.#cancelBeat = this.#scheduleBeat()
      this.each((stream) => stream.beat())
      onBeat?.()
    })
  }
}
