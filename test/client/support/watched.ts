/** A scripted server, and a watch of it whose time belongs to the test. @module */

import type { TestContext } from 'node:test'
import type { WatchOptions, WatchState } from '../../../src/client.ts'
import { openServer } from '../../../src/client/server.ts'
import { watch } from '../../../src/client/watch.ts'
import { CREDENTIALS, startEventServer } from '../../support/event-server.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { ClientClock } from './client-clock.ts'

/** Other than what the watch itself waits for. */
export const TIMEOUT_MS = 20_000

export async function openWatched(t: TestContext, options: WatchOptions = {}) {
  const server = await startEventServer(t)
  server.activate('first')
  const clock = new ClientClock()
  const states = new Mailbox<WatchState>()
  const controller = new AbortController()
  t.after(() => controller.abort())
  const { user: username, pwd: password } = CREDENTIALS
  const credentials = { url: server.url, username, password }
  const opened = openServer(credentials, {
    timeoutMs: TIMEOUT_MS,
    clock,
    random: () => clock.chance,
  })
  const documents = watch(opened, {
    signal: controller.signal,
    onState: (state) => states.put(state),
    ...options,
  })
  return {
    server,
    clock,
    states,
    documents,
    controller,
    /** The text of the next document. */
    next: async () => (await documents.next()).value?.text,
    /** The next request for the stream, answered as a gateway does. */
    hello: async () => (await server.streams.next()).hello(),
    /** Lets the wait for the next attempt pass; says how long it was. */
    async retry() {
      for (;;) {
        const state = await states.next()
        if (state.name !== 'waiting') continue
        clock.advance(state.retryInMs)
        return state
      }
    },
  }
}

/** The watch of a server whose stream is open, and whose first document was read. */
export async function openConnected(t: TestContext, options: WatchOptions = {}) {
  const watched = await openWatched(t, options)
  const first = watched.next()
  const stream = await watched.hello()
  await first
  return { ...watched, stream }
}
