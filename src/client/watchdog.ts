/**
 * Ends a request that its caller gave up, or that has not moved for too long.
 *
 * The signal alone would not do: Node's fetch may lose it to the garbage collector
 * (nodejs/node#55428), and a body would then hang for the five minutes of its own time-out. So
 * whoever waits does it here, and cancels what was waited for when it fails.
 * @module
 */

import { KIB } from '../core/limits.ts'
import { ClientError, translateFailure } from './client-error.ts'
import type { Server } from './server.ts'
import type { Clock } from '../lib/clock.ts'

/** A body that moves slower than this has stopped. The server allows bodies the same time. */
export const SLOWEST_BYTES_PER_MS: number = (16 * KIB) / 1000

const TOO_SLOW = 'the answer does not come to its end'

/** Whether an answer had begun and took too long: somebody is there, and is not well. */
export function isTooSlow(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'TIMEOUT' && error.reason === TOO_SLOW
}

/** Close it when the request is over, or it keeps listening to the caller's signal. */
export class Watchdog {
  readonly #controller = new AbortController()
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #caller: AbortSignal | undefined
  #giveUp: ((reason: unknown) => void) | undefined
  /** When the first part of the answer was waited for. */
  #since: number | undefined

  constructor(
    { timeoutMs, clock }: Pick<Server, 'timeoutMs' | 'clock'>,
    caller: AbortSignal | undefined,
  ) {
    this.#timeoutMs = timeoutMs
    this.#clock = clock
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
  wait<T>(happening: Promise<T>, withinMs: number = this.#timeoutMs, reason?: string): Promise<T> {
    const cancel = this.#clock.after(withinMs, () => {
      this.#abort(new ClientError('TIMEOUT', { reason }))
    })
    return new Promise<T>((resolve, reject) => {
      const { signal } = this
      this.#giveUp = reject
      if (signal.aborted) reject(signal.reason)
      happening.then(resolve, (error) => {
        reject(signal.aborted ? signal.reason : translateFailure(error))
      })
    }).finally(cancel)
  }

  /**
   * Waits for the next part of an answer, of which all parts together may take the time-out, and
   * one second for each 16 KiB: a server that trickles is given up.
   *
   * @param received Bytes of the parts that came before.
   * @throws {ClientError} See {@link isTooSlow}; or the reason of the caller.
   */
  waitForPart<T>(part: Promise<T>, received: number): Promise<T> {
    const now = this.#clock.monotonic()
    this.#since ??= now
    const left = this.#since - now + this.#timeoutMs + received / SLOWEST_BYTES_PER_MS
    return this.wait(part, Math.max(0, Math.min(left, this.#timeoutMs)), TOO_SLOW)
  }

  /** Ends listening to the signal of the caller. */
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
