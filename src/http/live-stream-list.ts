/**
 * The open streams of whoever may have only so many: the newest ones stay, all of them hear the
 * same beat, and no timer runs while there is none.
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import type { LiveStream } from './live-stream.ts'
import type { Wire } from './reply.ts'

/** How a list treats its streams. */
export interface LiveStreamListOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Pause between two beats, in milliseconds. */
  readonly beatMs: number
  /** Streams of one owner; one more ends the oldest. */
  readonly maxPerOwner: number
  /** Called when streams were opened or have ended. */
  readonly onCount: () => void
  /** Called with an owner whose oldest stream was ended for a new one. */
  readonly onCrowded?: (owner: string) => void
  /** Called with each beat. */
  readonly onBeat?: () => void
}

/** Streams by their owners. */
export class LiveStreamList<Stream extends LiveStream> {
  readonly #options: LiveStreamListOptions
  /** Oldest first. No entry is empty. */
  readonly #byOwner = new Map<string, readonly Stream[]>()
  #cancelBeat: (() => void) | undefined = undefined
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
      oldest.end()
      onCrowded?.(owner)
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
