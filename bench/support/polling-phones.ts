/**
 * Phones that ask for the document again and again, each on its own connection.
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { RawClient } from '../../test/support/raw-http.ts'

export interface PollingPhones {
  /** Milliseconds of each answer since the last call. */
  takeTimes(): readonly number[]
  /** Waits for the answers that are under way. */
  stop(): Promise<void>
}

const PERIOD_MS = 1000

/** Starts them once each has logged in. An answer that is not the document makes `stop` throw. */
export async function startPhones(
  cleanup: AsyncCleanup,
  port: number,
  authorizations: readonly string[],
): Promise<PollingPhones> {
  let times: number[] = []
  let isStopped = false
  async function ask(client: RawClient, authorization: string): Promise<void> {
    const start = performance.now()
    client.send(`GET /Sync.json HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
    const { status } = await client.read()
    if (status !== 200) throw new Error(`A phone was answered with ${status}`)
    times.push(performance.now() - start)
  }
  const phones: { readonly client: RawClient; readonly authorization: string }[] = []
  for (const authorization of authorizations) {
    const client = await RawClient.connect(port)
    cleanup.add(() => client.close())
    await ask(client, authorization)
    phones.push({ client, authorization })
  }
  times = []
  const polling = phones.map(async ({ client, authorization }, index) => {
    // Not all at once, as phones are.
    await sleep((index * PERIOD_MS) / phones.length)
    while (!isStopped) {
      await ask(client, authorization)
      await sleep(PERIOD_MS)
    }
  })
  const ended = Promise.all(polling)
  // Awaited by `stop`.
  ended.catch(() => undefined)
  return {
    takeTimes: () => times.splice(0),
    stop: async () => {
      isStopped = true
      await ended
    },
  }
}
