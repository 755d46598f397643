/**
 * Tells of a trouble that lasts, and of its end: what comes and goes is told once at most.
 *
 * No timer runs while all is well, or while a trouble goes on.
 *
 * @module
 */

import type { Clock } from '../../lib/clock.ts'

export interface LastingStateOptions {
  readonly clock: Pick<Clock, 'after'>
  /** For so long a change must hold before it is told. */
  readonly delayMs: number
  readonly onChange: (isTrouble: boolean) => void
}

/** Begins well. */
export class LastingState {
  readonly #options: LastingStateOptions
  #told = false
  #cancel: (() => void) | undefined

  constructor(options: LastingStateOptions) {
    this.#options = options
  }

  /** Takes note of how things are; saying the same again changes nothing. */
  report(isTrouble: boolean): void {
    if (isTrouble === this.#told) {
      this.#cancel?.()
      this.#cancel = undefined
      return
    }
    const { clock, delayMs, onChange } = this.#options
    this.#cancel ??= clock.after(delayMs, () => {
      this.#cancel = undefined
      this.#told = isTrouble
      onChange(isTrouble)
    })
  }

  /** Tells nothing any more. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
