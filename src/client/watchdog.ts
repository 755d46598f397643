/**
 * Ends a request that its caller gave up, or that has not moved for too long.
 *
 * The signal alone would not do: Node's fetch may lose it to the garbage collector
 * (nodejs/node#55428), and a body would then hang for the five minutes of its own time-out. So
 * whoever waits does it here, and cancels what was waited for when it fails.
 *
 * @module
 */

import { ClientError } from './client-error.ts'
import type { Timing } from './timing.ts'
import { translateFailure } from './translate-failure.ts'

export interface WatchdogOptions {
  /** How long to wait while nothing moves, in milliseconds. */
  readonly timeoutMs: number
  readonly timing: Timing
}

/** Close it when the request is over, or it keeps listening to the caller's signal. */
export class Watchdog {
  readonly #controller = new AbortController()
  readonly #timeoutMs: number
  readonly #timing: Timing
  readonly #caller: AbortSignal | undefined
  #giveUp: ((reason: unknown) => void) | undefined

  constructor({ timeoutMs, timing }: WatchdogOptions, caller: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs
    this.#timing = timing
    this.#caller = caller
    if (caller?.aborted === true) this.#onCallerAbort()
    else caller?.addEventListener('abort', this.#onCallerAbort)
  }

  /** For `fetch`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * Waits for something that has to happen within the time-out, unless another time is given.
   *
   * @throws {ClientError}, or the reason of the caller.
   */
  wait<T>(happening: Promise<T>, withinMs: number = this.#timeoutMs): Promise<T> {
    const cancel = this.#timing.after(withinMs, () => this.#abort(new ClientError('TIMEOUT')))
    return new Promise<T>((resolve, reject) => {
      const { signal } = this
      this.#giveUp = reject
      if (signal.aborted) reject(signal.reason)
      happening.then(resolve, (error) => {
        reject(signal.aborted ? signal.reason : translateFailure(error))
      })
    }).finally(cancel)
  }

  close(): void {
    this.#caller?.removeEventListener('abort', this.#onCallerAbort)
  }

  #abort(reason: unknown): void {
    this.#controller.abort(reason)
    this.#giveUp?.(reason)
  }

  // A field, so that the same function can be removed as a listener.
  readonly #onCallerAbort = (): void => this.#abort(this.#caller?.reason)
}
