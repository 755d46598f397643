/**
 * Frames on their way to a client that listens.
 *
 * A client that does not read costs one frame of memory: a later frame takes the place of the one
 * that waits.
 * @module
 */

import { GrowingBuffer } from '../lib/growing-buffer.ts'
import type { Pieces } from '../lib/long-text.ts'
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
  #pending: Frame | undefined = undefined
  #replies: GrowingBuffer | undefined = undefined
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
