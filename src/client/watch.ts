/** Watches the clipboard of a server: its documents, as they change. @module */

import { Follower, type WatchState } from './follower.ts'
import type { LatestStamped } from './latest.ts'
import type { Server } from './server.ts'

/** Options of `watch`. */
export interface WatchOptions {
  /** Ends the watch at once; the iteration throws its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called when the connection is made, lost, or tried again; perhaps twice with a state. */
  readonly onState?: ((state: WatchState) => void) | undefined
}

/** See `Client.watch`. */
export function watch(
  server: Server,
  options: WatchOptions,
): AsyncIterableIterator<LatestStamped, undefined> {
  const ending = new AbortController()
  const documents = follow(server, options, ending)
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => documents.next(),
    return: () => {
      // A generator that waits would not notice before the next document.
      ending.abort(RETURNED)
      return documents.return(undefined)
    },
  }
}

/** Why a watch ends that nobody wants to read any more. */
const RETURNED: unique symbol = Symbol('returned')

async function* follow(
  server: Server,
  { signal, onState = () => {} }: WatchOptions,
  ending: AbortController,
): AsyncGenerator<LatestStamped, undefined> {
  const newest = new Slot<LatestStamped>()
  const onAbort = (): void => ending.abort(signal?.reason)
  if (signal?.aborted === true) onAbort()
  else signal?.addEventListener('abort', onAbort)
  const follower = new Follower(server, {
    deliver: (document) => newest.put(document),
    report: onState,
    signal: ending.signal,
  })
  const following = follower.run().catch((error: unknown) => newest.fail(error))
  try {
    for (;;) {
      ending.signal.throwIfAborted()
      yield await newest.take()
    }
  } catch (error) {
    if (error === RETURNED) return
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
    ending.abort(RETURNED)
    await following
  }
}

/** Holds the newest value until it is taken: a slow reader misses the values before. */
class Slot<T extends object> {
  #value: T | undefined
  #failure: { readonly reason: unknown } | undefined
  #wake: () => void = () => {}

  put(value: T): void {
    this.#value = value
    this.#wake()
  }

  fail(reason: unknown): void {
    this.#failure = { reason }
    this.#wake()
  }

  async take(): Promise<T> {
    for (;;) {
      const value = this.#value
      this.#value = undefined
      if (value !== undefined) return value
      if (this.#failure !== undefined) throw this.#failure.reason
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
