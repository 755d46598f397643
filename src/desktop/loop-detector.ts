/**
 * Tells when two programs answer each other on one clipboard: what we write and what others copy
 * take turns, again and again, faster than people do.
 *
 * Copies alone are no loop, however many, nor are writes alone. Knows no content.
 * @module
 */

export type ClipboardChange = 'write' | 'copy'

/** A program answers at once; a person takes longer. */
const ANSWER_MS = 1000

/** Older answers do not count. */
const WINDOW_MS = 10_000

/** Up to this number of answers in a row are an accident. */
const MAX_ANSWERS = 5

/** Programs may set what they copy in two or three steps; more is somebody who is busy. */
const MAX_RUN = 3

export class LoopDetector {
  #last: { readonly change: ClipboardChange; readonly at: number } | undefined
  /** The number of changes of the same kind in a row, up to the last one. */
  #run = 0
  /** The time of each answer. */
  #answers: readonly number[] = []

  /**
   * Notes a change.
   *
   * @param now Of `Clock.monotonic`.
   * @returns Whether the change is one answer too many.
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
