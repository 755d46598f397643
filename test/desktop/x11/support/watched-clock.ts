/** A clock on which the test can wait until somebody waits. @module */

import { EventEmitter, once } from 'node:events'
import { FakeClock } from '../../../support/fake-clock.ts'

export class WatchedClock extends FakeClock {
  readonly #changed = new EventEmitter()
  readonly #timers = new Set<{ readonly delayMs: number }>()

  override after(delayMs: number, run: () => void): () => void {
    const timer = { delayMs }
    this.#timers.add(timer)
    this.#changed.emit('change')
    const cancel = super.after(delayMs, () => {
      this.#forget(timer)
      run()
    })
    return () => {
      this.#forget(timer)
      cancel()
    }
  }

  /** Waits until a timer of this length is running, and lets it run out. */
  async pass(delayMs: number): Promise<void> {
    while (!this.#delays.includes(delayMs)) await once(this.#changed, 'change')
    this.advance(delayMs)
  }

  /** Waits until timers of these lengths are running, and no others. */
  async hasOnly(...delays: readonly number[]): Promise<void> {
    while (this.#delays.join() !== delays.join()) await once(this.#changed, 'change')
  }

  get #delays(): readonly number[] {
    return [...this.#timers].map((timer) => timer.delayMs)
  }

  #forget(timer: { readonly delayMs: number }): void {
    this.#timers.delete(timer)
    this.#changed.emit('change')
  }
}
