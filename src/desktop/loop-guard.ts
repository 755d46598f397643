/**
 * Ends the loop of two programs that answer each other on the clipboard: one of them is us, when a
 * device or another daemon pushes whenever something is copied, and the other one rewrites whatever
 * we put on the clipboard. Then nothing is written for a while; copies are still shared.
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import { LoopDetector } from './loop-detector.ts'

/** The first pause; each one that follows soon is twice as long as the one before. */
const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 600_000

/** After this time without a loop the next pause is a first one again. */
const CALM_MS = 600_000

export class LoopGuard {
  readonly #clock: Clock
  readonly #onTrouble: (message: string | undefined) => void
  readonly #detector = new LoopDetector()
  /** Ends the pause without what follows it; `undefined` when there is none. */
  #cancelPause: (() => void) | undefined
  #pauseMs = FIRST_PAUSE_MS
  #resumedAt = -Infinity

  /** @param onTrouble Gets what is wrong when a pause begins, and `undefined` when it is over. */
  constructor(clock: Clock, onTrouble: (message: string | undefined) => void) {
    this.#clock = clock
    this.#onTrouble = onTrouble
  }

  /** Notes that a program copied. */
  noteCopy(): void {
    this.#note('copy')
  }

  /** Notes that something is about to be written. @returns Whether it may be. */
  mayWrite(): boolean {
    this.#note('write')
    return this.#cancelPause === undefined
  }

  /** Ends the pause silently. */
  close(): void {
    this.#cancelPause?.()
  }

  #note(change: 'write' | 'copy'): void {
    if (this.#cancelPause !== undefined) return
    if (this.#detector.note(change, this.#clock.monotonic())) this.#pause()
  }

  #pause(): void {
    const isCalm = this.#clock.monotonic() - this.#resumedAt > CALM_MS
    this.#pauseMs = isCalm ? FIRST_PAUSE_MS : Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
    this.#cancelPause = this.#clock.after(this.#pauseMs, () => this.#resume())
    this.#onTrouble(
      'Another program changes whatever is put on the clipboard, again and again: ' +
        `nothing is put on it for ${this.#pauseMs / 1000} s`,
    )
  }

  #resume(): void {
    this.#cancelPause = undefined
    this.#resumedAt = this.#clock.monotonic()
    this.#detector.reset()
    this.#onTrouble(undefined)
  }
}
