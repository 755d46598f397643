/**
 * Ends the loop of two programs that answer each other on the clipboard: one of them is us, when a
 * device or another daemon pushes whenever something is copied, and the other one rewrites whatever
 * we put on the clipboard. Then nothing is written for a while; copies are still shared.
 * @module
 */

import type { Clock } from '../lib/clock.ts'

/** The first pause; each one that follows soon is twice as long as the one before. */
const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 600_000

/** After this time without a loop the next pause is a first one again. */
const CALM_MS = 600_000

/** A program answers at once; a person takes longer. */
const ANSWER_MS = 1000

/** Older answers do not count. */
const WINDOW_MS = 10_000

/** Up to this number of answers in a row are an accident. */
const MAX_ANSWERS = 5

/** Programs may set what they copy in two or three steps; more is somebody who is busy. */
const MAX_RUN = 3

/** Notices loops, and pauses all writing then. */
export class LoopGuard {
  readonly #clock: Clock
  readonly #onTrouble: (message: string | undefined) => void
  #detector = new LoopDetector()
  /** Ends the pause without what follows it; `undefined` when there is none. */
  #cancelPause: (() => void) | undefined
  #pauseMs = FIRST_PAUSE_MS
  #resumedAt = -Infinity

  /** @param onTrouble Gets what is wrong when a pause begins, and `undefined` when it is over. */
  constructor(clock: Clock, onTrouble: (message: string | undefined) => void) {
    this.#clock = clock
    this.#onTrouble = onTrouble
  }

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
    this.#detector = new LoopDetector()
    this.#onTrouble(undefined)
  }
}

/**
 * Tells when what we write and what others copy take turns, again and again, faster than people do.
 * Copies alone are no loop, however many, nor are writes alone.
 */
class LoopDetector {
  #last: { readonly change: 'write' | 'copy'; readonly at: number } | undefined
  /** The number of changes of the same kind in a row, up to the last one. */
  #run = 0
  #answers: readonly number[] = []

  /** Notes a change at the time `now`. @returns Whether the change is one answer too many. */
  note(change: 'write' | 'copy', now: number): boolean {
    const last = this.#last
    const isAnswer = last !== undefined && last.change !== change
    const isSoon = last !== undefined && now - last.at <= ANSWER_MS
    this.#last = { change, at: now }
    this.#run = isAnswer ? 1 : this.#run + 1
    if (!isSoon || this.#run > MAX_RUN) this.#answers = []
    const recent = this.#answers.filter((at) => now - at <= WINDOW_MS)
    this.#answers = isAnswer && isSoon ? [...recent, now] : recent
    return this.#answers.length > MAX_ANSWERS
  }
}
