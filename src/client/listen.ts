/** Listens to the events of a server: signals of changes, never content. @module */

import { discard } from './answer.ts'
import { ClientError } from './client-error.ts'
import { EventStreamParser } from './event-stream-parser.ts'
import { openAnswer } from './exchange.ts'
import type { FetchedResponse, Server } from './server.ts'

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
export async function listen(
  server: Server,
  onSignal: () => void,
  signal: AbortSignal,
): Promise<void> {
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
