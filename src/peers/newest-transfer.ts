/**
 * Moves the newest item, one transfer at a time: what is under way is given up as soon as nobody
 * needs it any more, and what became due meanwhile is looked at right afterwards.
 * @module
 */

import { Coalesced } from '../lib/coalesced.ts'
import { messageOf } from '../lib/describe-failure.ts'

/** The decisions of a user of {@link NewestTransfer}. */
export interface NewestTransferDeps<Job> {
  /** The transfer that is due; `undefined` when there is nothing to do. */
  readonly next: () => Job | undefined
  /** Whether a transfer that is under way has become useless. */
  readonly isOutdated: (job: Job) => boolean
  /** Moves an item, and rejects when the signal aborts. */
  readonly move: (job: Job, signal: AbortSignal) => Promise<void>
  readonly onSuccess?: (job: Job) => void
  /** A transfer failed that nobody had given up; `failures` in a row, with this one. */
  readonly onFailure: (error: unknown, job: Job, failures: number) => void
  /** Called when {@link NewestTransfer.error} is another. */
  readonly onError: (error: string | undefined) => void
}

/** The transfers in one direction, or between two daemons. */
export class NewestTransfer<Job> {
  readonly #deps: NewestTransferDeps<Job>
  readonly #runs: Coalesced
  #current: { readonly job: Job; readonly abort: AbortController } | undefined
  #isClosed = false
  #error: string | undefined
  #failures = 0

  constructor(deps: NewestTransferDeps<Job>) {
    this.#deps = deps
    this.#runs = new Coalesced(
      () => this.#run(),
      (error) => {
        throw error
      },
    )
  }

  /** Why the last transfer failed; `undefined` once one has succeeded. */
  get error(): string | undefined {
    return this.#error
  }

  /** Looks at what is due, now or right after what is under way; gives up what is outdated. */
  request(): void {
    const { job, abort } = this.#current ?? {}
    if (job !== undefined && this.#deps.isOutdated(job)) abort?.abort(OUTDATED)
    if (!this.#isClosed) this.#runs.request()
  }

  /** Counts failures from 0 again. */
  forgive(): void {
    this.#failures = 0
  }

  /** Gives up what is under way, and waits until it has ended. */
  async close(reason: unknown): Promise<void> {
    this.#isClosed = true
    this.#current?.abort.abort(reason)
    await this.#runs.idle()
  }

  async #run(): Promise<void> {
    const job = this.#isClosed ? undefined : this.#deps.next()
    if (job === undefined) return
    const abort = new AbortController()
    this.#current = { job, abort }
    try {
      await this.#deps.move(job, abort.signal)
    } catch (error) {
      if (abort.signal.aborted) return
      this.#failures += 1
      this.#setError(messageOf(error))
      return this.#deps.onFailure(error, job, this.#failures)
    } finally {
      this.#current = undefined
    }
    this.forgive()
    this.#setError(undefined)
    this.#deps.onSuccess?.(job)
  }

  #setError(error: string | undefined): void {
    if (error === this.#error) return
    this.#error = error
    this.#deps.onError(error)
  }
}

const OUTDATED = new Error('Something newer is there')
