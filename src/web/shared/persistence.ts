/** Tries again for as long as a page is open, across breaks and a locked screen. @module */

import { ClientError } from '../../client/client-error.ts'
import { failureOf } from './request.ts'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

/** A connection that takes no byte for so long is dead. */
const MAX_SILENCE_MS = 30_000

/** A phone that was asleep, or has another network, has mostly lost its connections. */
const WAKING_MS = 3_000

/** Why nothing can be sent now: `away` and `busy` are about the daemon, `offline` about here. */
export type Held = 'away' | 'busy' | 'offline'

/** Goes on over breaks until something is done. */
export class Persistence {
  readonly #signal: AbortSignal
  #failures = 0
  /** Ends the requests of the present try. */
  #abort = new AbortController()
  /** The longest silence of the present try. */
  #silenceMs = MAX_SILENCE_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Ends the present pause. */
  #goOn: (() => void) | undefined

  /** @param signal Cancels it. */
  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Ends the requests of the present try. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /**
   * Tries, however long that takes.
   *
   * @param judge Throws what cannot become better by itself.
   * @param cancel Called at the end, and at once by who cancels: they may have no
   *   credentials a moment later.
   * @throws {ClientError} When it is cancelled, or cannot become better by itself.
   */
  async run<T>(
    attempt: () => Promise<T>,
    judge: (error: ClientError) => Promise<void>,
    cancel: () => void,
  ): Promise<T> {
    const listening = new AbortController()
    const listen = (on: EventTarget, type: string, act = this.#wake) =>
      on.addEventListener(type, act, listening)
    const end = () => {
      cancel()
      this.#abort.abort()
      this.#goOn?.()
    }
    listen(window, 'online')
    listen(window, 'pageshow')
    listen(document, 'resume')
    listen(document, 'visibilitychange')
    listen(window, 'offline', () => this.#abort.abort())
    listen(this.#signal, 'abort', end)
    try {
      for (;;) {
        try {
          if (this.#signal.aborted) throw new ClientError('UNREACHABLE')
          this.#abort = new AbortController()
          this.expectBytes(MAX_SILENCE_MS)
          return await attempt()
        } catch (error) {
          if (this.#signal.aborted || !(error instanceof ClientError)) throw error
          await judge(error)
          if (this.#signal.aborted) throw error
          await this.#pause()
        }
      }
    } finally {
      listening.abort()
      this.expectAnything()
      end()
    }
  }

  /** Ends the present try unless bytes go on to flow. */
  expectBytes(silenceMs = this.#silenceMs): void {
    this.#silenceMs = silenceMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#abort.abort(), silenceMs)
  }

  /** Waits for an answer: a slow disk takes minutes for a film. */
  expectAnything(): void {
    clearTimeout(this.#timer)
  }

  /** Something has come of the tries until now. */
  succeed(): void {
    this.#failures = 0
  }

  async #pause(): Promise<void> {
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS)
    this.#failures += 1
    clearTimeout(this.#timer)
    await new Promise((resolve) => {
      this.#goOn = () => resolve(undefined)
      this.#timer = setTimeout(resolve, delayMs)
    })
    clearTimeout(this.#timer)
    this.#goOn = undefined
  }

  /** The phone is back, or has a network: what hangs gets a moment to show that it lives. */
  readonly #wake = (): void => {
    if (document.hidden) return
    if (this.#goOn !== undefined) this.#goOn()
    else this.expectBytes(WAKING_MS)
  }
}

/** Why nothing can be sent, by a failure that may pass. */
export function heldBy(error: ClientError): Held {
  return !navigator.onLine ? 'offline' : failureOf(error) === 'busy' ? 'busy' : 'away'
}
