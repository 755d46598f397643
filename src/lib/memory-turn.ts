/**
 * Where memory is short: one at a time has much of it, and what is kept for later goes meanwhile.
 * All parts of a program have the turn in common.
 * @module
 */

import { perClock, type Clock } from './clock.ts'
import { Semaphore } from './semaphore.ts'

/** A turn ends after this time, unless told: bodies may come slowly, and the others wait. */
const MOST_MS = 5000

/** Who has much memory at other times, and some for later. */
export interface MemoryHolder {
  /** Whether there is not enough for both. */
  readonly isTight: boolean
  /** Gives all of it back when its work allows, and takes none before `goOn`. Never rejects. */
  giveWay(): Promise<void>
  goOn(): void
}

/** A turn that somebody has. */
export interface HeldTurn {
  readonly isOver: boolean
  /** Starts its time again. @returns Whether it had not ended. */
  renew(): boolean
  /** Ends it; calling it twice is fine. */
  release(): void
}

const NO_TURN: HeldTurn = { isOver: false, renew: () => true, release: () => undefined }

/** The turn of a program. */
export class MemoryTurn {
  /** The one that makes way for the others. */
  holder: MemoryHolder | undefined
  readonly #clock: Clock
  readonly #queue = new Semaphore(1)

  private constructor(clock: Clock) {
    this.#clock = clock
  }

  static readonly of: (clock: Clock) => MemoryTurn = perClock((clock) => new MemoryTurn(clock))

  /**
   * Waits for the turn; where memory is not short, for nothing. It has to be released.
   *
   * @param mostMs The turn ends by itself after so many milliseconds, unless it is renewed.
   * @throws `signal.reason` when aborted before that.
   */
  take(signal?: AbortSignal, mostMs: number = MOST_MS): Promise<HeldTurn> {
    const { holder } = this
    if (holder?.isTight !== true) return Promise.resolve(NO_TURN)
    return new Promise((resolve, reject) => {
      const work = async (): Promise<void> => {
        await holder.giveWay()
        await new Promise<void>((end) => resolve(this.#begin(end, mostMs)))
        holder.goOn()
      }
      this.#queue.run(work, signal).catch(reject)
    })
  }

  #begin(end: () => void, mostMs: number): HeldTurn {
    let isOver = false
    const release = (): void => {
      isOver = true
      cancel()
      end()
    }
    let cancel = this.#clock.after(mostMs, release)
    const renew = (): boolean => {
      if (isOver) return false
      cancel()
      cancel = this.#clock.after(mostMs, release)
      return true
    }
    return {
      get isOver() {
        return isOver
      },
      renew,
      release,
    }
  }
}
