/**
 * Event streams through a proxy.
 * @module
 */

import assert from 'node:assert/strict'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { readFrames, type Frame } from '../support/event-reader.ts'
import { createPhone } from '../support/phone.ts'
import type { Client, ClientAnswer, HttpVersion } from './support/https-client.ts'
import type { ProxiedDaemon } from './support/proxied-daemon.ts'

const ROUNDS = 5

export interface ProxiedStream {
  readonly answer: ClientAnswer
  /** The next frame; `undefined` when the stream has ended. */
  next(): Promise<Frame | undefined>
}

/** Opens a stream; the answer is looked at by whoever asked. */
export async function openStream(client: Client, authorization: string): Promise<ProxiedStream> {
  const answer = await client.send({ path: '/api/sse/clipboard', headers: { authorization } })
  const frames = readFrames(answer.body)
  return {
    answer,
    next: async () => {
      const { done, value } = await frames.next()
      return done === true ? undefined : value
    },
  }
}

/** The event in a frame, if it is one. */
export function nameOf(frame: Frame | undefined): string | undefined {
  return frame !== undefined && 'event' in frame ? frame.event : undefined
}

/** At once: an HTTP/2 stream that has ended is not kept for long. */
async function readJson({ body }: ClientAnswer): Promise<Record<string, unknown>> {
  return Object(await json(body))
}

/** Each frame is awaited while nothing follows it that could push it out of a buffer. */
export async function testEvents(
  t: TestContext,
  site: ProxiedDaemon,
  version: HttpVersion,
): Promise<void> {
  const listener = await site.daemon.pair('Listener')
  const { authorization } = createPhone(listener, site.daemon.ready.gateway)
  const client = site.through(t, version)
  const { answer, next } = await openStream(client, authorization)
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/event-stream'])
  assert.equal(nameOf(await next()), 'hello')

  const latencies: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const body = JSON.stringify({ type: 'Text', text: `${version} ${round}` })
    const headers = { authorization: site.phone.authorization }
    const start = performance.now()
    const [frame, pushed] = await Promise.all([
      next(),
      client.send({ method: 'PUT', path: '/Sync.json', headers, body }).then(readJson),
    ])
    latencies.push(performance.now() - start)
    const { contentId } = pushed
    assert.equal(nameOf(frame), 'update')
    assert.equal(frame !== undefined && 'event' in frame && frame.data['content_id'], contentId)
  }
  const inMs = latencies.map((latency) => latency.toFixed(1))
  t.diagnostic(`from sending a push to its event and its answer: ${inMs.join(', ')} ms`)

  await site.daemon.run('revoke', listener.id)
  assert.equal(await next(), undefined)
  assert.equal((await openStream(client, authorization)).answer.status, 401)
}
