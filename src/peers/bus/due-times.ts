/**
 * Things to do later, by name, on one timer.
 * @module
 */

import type { Timing } from '../../client/timing.ts'

/** Tasks, each planned once at most. */
export class DueTimes<Name extends string> {
  readonly #timing: Timing
  readonly #run: (name: Name) => void
  readonly #dues = new Map<Name, number>()
  #cancelTimer: () => void = () => undefined

  constructor(timing: Timing, run: (name: Name) => void) {
    this.#timing = timing
    this.#run = run
  }

  /** Whether a task is planned. */
  has(name: Name): boolean {
    return this.#dues.has(name)
  }

  /** Replaces what was planned under this name. */
  set(name: Name, delayMs: number): void {
    this.#dues.set(name, this.#timing.monotonic() + delayMs)
    this.#arm()
  }

  /** Forgets a task. */
  cancel(name: Name): void {
    if (this.#dues.delete(name)) this.#arm()
  }

  /** Forgets all tasks. */
  clear(): void {
    this.#dues.clear()
    this.#cancelTimer()
  }

  #arm(): void {
    this.#cancelTimer()
    if (this.#dues.size === 0) return
    const next = Math.min(...this.#dues.values())
    const delay = Math.max(0, next - this.#timing.monotonic())
    this.#cancelTimer = this.#timing.after(delay, () => this.#fire())
  }

  #fire(): void {
    const now = this.#timing.monotonic()
    const due = [...this.#dues].filter(([, at]) => at <= now).map(([name]) => name)
    for (const name of due) {
      // A task that ran before may have cancelled this one.
      if (this.#dues.delete(name)) this.#run(name)
    }
    this.#arm()
  }
}
