/** Keeps the log from saying the same over and over. @module */

import type { Clock } from './clock.ts'

const PAUSE_MS = 600_000

/** Lets each subject be spoken of once in ten minutes. */
export class Seldom {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #saidAt = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Whether a subject may be said now, which counts as said then. */
  take(subject = ''): boolean {
    const now = this.#clock.monotonic()
    if (now - (this.#saidAt.get(subject) ?? -Infinity) < PAUSE_MS) return false
    this.#saidAt.set(subject, now)
    return true
  }

  forget(subject: string): void {
    this.#saidAt.delete(subject)
  }
}
