/** A clock whose time and timers belong to the test: nothing happens until `advance()`. @module */

import { LONGEST_TIMER_MS, timerDelay, type Clock } from '../../src/lib/clock.ts'

interface Timer {
  readonly due: number
  readonly run: () => void
}

export class FakeClock implements Clock {
  #now: number
  #monotonic = 0
  #timers: readonly Timer[] = []

  constructor(now: number = Date.UTC(2026, 0, 31, 12, 34, 56, 789)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  after(delayMs: number, run: () => void): () => void {
    const delay = timerDelay(delayMs)
    // Node does so.
    const timer = { due: this.#monotonic + (delay > LONGEST_TIMER_MS ? 1 : delay), run }
    this.#timers = [...this.#timers, timer]
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.length
  }

  /** Lets time pass, and runs the timers that become due, earliest first. */
  advance(ms: number): void {
    const end = this.#monotonic + ms
    for (let next = this.#takeDue(end); next !== undefined; next = this.#takeDue(end)) {
      this.#moveTo(next.due)
      next.run()
    }
    this.#moveTo(end)
  }

  /** Sets the wall clock forward or back, as a person or NTP does: no timer notices. */
  jump(ms: number): void {
    this.#now += ms
  }

  #takeDue(end: number): Timer | undefined {
    const due = this.#timers.filter((timer) => timer.due <= end)
    const next = due.reduce<Timer | undefined>(
      (first, timer) => (first === undefined || timer.due < first.due ? timer : first),
      undefined,
    )
    this.#timers = this.#timers.filter((timer) => timer !== next)
    return next
  }

  #moveTo(monotonic: number): void {
    // A timer with a negative delay is due at once, not in the past.
    const elapsed = Math.max(0, monotonic - this.#monotonic)
    this.#monotonic += elapsed
    this.#now += elapsed
  }
}
