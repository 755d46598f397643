/**
 * Stays connected to one server, and pulls whenever its document may be another.
 *
 * Where there is no event stream, because the server lacks it or a proxy keeps it to itself, the
 * document is polled, and the stream tried again from time to time.
 * @module
 */

import { discard, isTooLong } from './answer.ts'
import { backOff } from '../lib/back-off.ts'
import { ClientError } from './client-error.ts'
import { Coalesced } from '../lib/coalesced.ts'
import { getLatest, hasItem, isSameDocument, type LatestStamped } from './latest.ts'
import type { FetchedResponse, Server } from './server.ts'
import { sleep } from '../lib/clock.ts'
import { EventStreamParser } from './event-stream-parser.ts'
import { openAnswer } from './exchange.ts'

/** For servers without the stream: often enough for people, and 304 costs next to nothing. */
const POLL_MS = 10_000

/** After this, the server may have been updated, or its proxy repaired. */
const STREAM_AGAIN_MS: number = 10 * 60_000

/** A connection that lived for this long was no failed attempt. */
const STEADY_MS = 30_000

/**
 * How a watch is doing. With `refused`, the current document is longer than any may be: it is left
 * out, and the next one is waited for.
 */
export type WatchState =
  /** The server tells changes at once, and a pull has succeeded. */
  | { readonly name: 'connected'; readonly refused?: ClientError }
  /** The server does not tell changes (`reason` says why), so it is asked for them. */
  | { readonly name: 'polling'; readonly reason: ClientError; readonly refused?: ClientError }
  /**
   * There is no connection, and the next attempt is made in `retryInMs`. Without a `reason` the
   * server ended the stream, as one does that stops.
   */
  | {
      readonly name: 'waiting'
      readonly reason: ClientError | undefined
      readonly retryInMs: number
    }

/** Who hears of documents and states. */
export interface FollowerOptions {
  /** Gets each document that differs from the one before, if there is an item. */
  readonly deliver: (document: LatestStamped) => void
  readonly report: (state: WatchState) => void
  readonly signal: AbortSignal
}

type Connected = Exclude<WatchState, { readonly name: 'waiting' }>

/** Calls its first argument when a pull is due; resolves when there is nothing more to hear. */
type Listen = (onSignal: () => void, signal: AbortSignal) => Promise<void>

interface End {
  /** `undefined` when the other side ended it. */
  readonly failure: ClientError | undefined
  /** Whether there was any signal. */
  readonly wasHeard: boolean
}

/** Follows one server. */
export class Follower {
  readonly #server: Server
  readonly #options: FollowerOptions
  #latest: LatestStamped | undefined
  /** Why the current document was left out. */
  #refused: ClientError | undefined
  /** Attempts in a row. */
  #failures = 0

  constructor(server: Server, options: FollowerOptions) {
    this.#server = server
    this.#options = options
  }

  /**
   * Goes on until there is no use in it.
   *
   * @throws {ClientError} `UNAUTHORIZED`: the credentials are gone, and will not come back.
   * @throws The reason of the signal, and what `deliver` and `report` throw.
   */
  async run(): Promise<never> {
    const { clock, random } = this.#server
    const { report, signal } = this.#options
    for (;;) {
      const reason = await this.#connect()
      const retryInMs = backOff(this.#failures, { random, retryAfterMs: reason?.retryAfterMs })
      this.#failures += 1
      report({ name: 'waiting', reason, retryInMs })
      await sleep(clock, retryInMs, signal)
    }
  }

  /** @returns Why there is no connection any more. */
  async #connect(): Promise<ClientError | undefined> {
    for (;;) {
      const stream = await this.#attend(this.#listen, { name: 'connected' })
      const { failure: reason, wasHeard } = stream
      if (reason === undefined || wasHeard || !isStreamless(reason)) return reason
      const { failure } = await this.#attend(this.#poll, { name: 'polling', reason })
      if (failure !== undefined) return failure
    }
  }

  readonly #listen: Listen = (onSignal, signal) => listen(this.#server, onSignal, signal)

  readonly #poll: Listen = async (onSignal, signal) => {
    for (let elapsed = 0; elapsed < STREAM_AGAIN_MS; elapsed += POLL_MS) {
      onSignal()
      await sleep(this.#server.clock, POLL_MS, signal)
    }
  }

  /** One connection: listens, and pulls at each signal, until either fails or nothing is left. */
  async #attend(attempt: Listen, state: Connected): Promise<End> {
    const { signal, report } = this.#options
    const { clock } = this.#server
    const connection = new AbortController()
    const onAbort = (): void => connection.abort(signal.reason)
    signal.addEventListener('abort', onAbort)
    let wasHeard = false
    let connectedAt: number | undefined

    const pulls = new Coalesced(
      async () => {
        // The first one is unconditional, as the protocol has it.
        const etag = connectedAt === undefined ? undefined : this.#latest?.etag
        const wasRefused = this.#refused !== undefined
        await this.#pull(etag, connection.signal)
        const refused = this.#refused
        if (connectedAt !== undefined && wasRefused === (refused !== undefined)) return
        connectedAt ??= clock.monotonic()
        report(refused === undefined ? state : { ...state, refused })
      },
      (error) => connection.abort(error),
    )
    const onSignal = (): void => {
      wasHeard = true
      pulls.request()
    }

    try {
      signal.throwIfAborted()
      await attempt(onSignal, connection.signal)
      return { failure: undefined, wasHeard }
    } catch (error) {
      signal.throwIfAborted()
      const isPassing = error instanceof ClientError && error.code !== 'UNAUTHORIZED'
      if (!isPassing) throw error
      return { failure: error, wasHeard }
    } finally {
      signal.removeEventListener('abort', onAbort)
      connection.abort()
      await pulls.idle()
      if (clock.monotonic() - (connectedAt ?? Infinity) >= STEADY_MS) this.#failures = 0
    }
  }

  async #pull(etag: string | undefined, signal: AbortSignal): Promise<void> {
    this.#refused = undefined
    let document: LatestStamped | undefined
    try {
      document = await getLatest(this.#server, { etag, signal })
    } catch (error) {
      if (!isTooLong(error)) throw error
      this.#refused = error
      // Whatever comes next is new.
      this.#latest = undefined
    }
    const earlier = this.#latest
    if (document === undefined || (earlier && isSameDocument(document, earlier))) return
    this.#latest = document
    if (hasItem(document)) this.#options.deliver(document)
  }
}

/** The server is there, as far as one can tell, and its stream is not. */
function isStreamless({ code }: ClientError): boolean {
  return code === 'NOT_FOUND' || code === 'TIMEOUT'
}

/** The server sends a comment every 25 s. */
const MAX_SILENCE_MS = 50_000

/** All of them mean that there may be another document; what they carry says no more. */
const SIGNALS: readonly string[] = ['hello', 'update', 'resync']

/**
 * Calls `onSignal` for each signal, until the server ends the stream.
 *
 * The first bytes have to be there within the time-out of the server: a proxy that keeps the
 * stream to itself would else stay unnoticed.
 *
 * @throws {ClientError} `NOT_FOUND` also when something else than an event stream is there.
 */
async function listen(server: Server, onSignal: () => void, signal: AbortSignal): Promise<void> {
  const headers = { Accept: 'text/event-stream' }
  const path = '/api/sse/clipboard'
  const answer = await openAnswer(server, { method: 'GET', path, headers, signal })
  const reader = answer.response.body?.getReader()
  try {
    if (reader === undefined || !isEventStream(answer.response)) {
      const { status } = answer.response
      throw new ClientError('NOT_FOUND', { status, reason: 'no event stream' })
    }
    const parser = new EventStreamParser()
    let withinMs = server.timeoutMs
    for (;;) {
      const { value: bytes } = await answer.watchdog.wait(reader.read(), withinMs)
      if (bytes === undefined) return
      withinMs = MAX_SILENCE_MS
      for (const { type } of parser.push(bytes)) if (SIGNALS.includes(type)) onSignal()
    }
  } finally {
    // The stream is not needed any more, so its failure does not matter.
    await reader?.cancel().catch(() => undefined)
    await discard(answer)
  }
}

function isEventStream({ headers }: FetchedResponse): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(headers.get('Content-Type') ?? '')
}
