/**
 * Tells when two programs answer each other on one clipboard: what we write and what others copy
 * take turns, again and again, faster than people do.
 *
 * Copies alone are no loop, however many, nor are writes alone. Knows no content.
 *
 * @module
 */

export type ClipboardChange = 'write' | 'copy'

/** A program answers at once; a person takes longer. */
const ANSWER_MS = 1000

/** Answers that are older do not count any more. */
const WINDOW_MS = 10_000

/** So many answers in a row are still an accident. */
const MAX_ANSWERS = 5

/** Programs may set what they copy in two or three steps; more is somebody who is busy. */
const MAX_RUN = 3

export class LoopDetector {
  #last: { readonly change: ClipboardChange; readonly at: number } | undefined
  /** How many changes of the same kind the last one ends. */
  #run = 0
  /** When each answer came. */
  #answers: readonly number[] = []

  /**
   * Takes note of a change.
   *
   * @param now Of `Clock.monotonic`.
   * @returns Whether it is one answer too many.
   */
  note(change: ClipboardChange, now: number): boolean {
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

  /** Forgets everything. */
  reset(): void {
    this.#last = undefined
    this.#run = 0
    this.#answers = []
  }
}
