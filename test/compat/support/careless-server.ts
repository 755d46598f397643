/**
 * A server of texts that does wrong in one way, for showing that a replay would notice.
 * @module
 */

import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../support/fake-clock.ts'
import { sha256 } from '../../support/hashes.ts'
import { listen } from '../../support/listen.ts'
import { createPhone } from '../../support/phone.ts'
import type { Stage } from './client.ts'

/** What becomes of a text that was pushed, and what the pusher is told. */
export interface Care {
  readonly keep: (current: string, pushed: string) => string
  readonly status?: number
  /** What a read leaves behind. */
  readonly afterRead?: (current: string) => string
  readonly hash?: (text: string) => string
  readonly contentId?: (current: string) => string
}

/** Serves one text, until the test ends. */
export async function serveCarelessly(t: TestContext, care: Care): Promise<Stage> {
  const { keep, status = 200, afterRead = (text) => text, hash = sha256, contentId = idOf } = care
  let text = 'precious'
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    if (request.method === 'PUT') {
      text = keep(text, String(JSON.parse(body.toString()).text))
      response.statusCode = status
      response.end(JSON.stringify({ contentId: contentId(text) }))
      return
    }
    const isOther = request.url === '/SyncClipboard.json'
    const shown = hash(text)
    const document = {
      type: 'Text',
      text,
      hasData: false,
      size: Buffer.byteLength(text),
      hash: isOther ? shown.toUpperCase() : shown,
      dataName: '',
      contentId: idOf(text),
    }
    if (request.url === '/careless') text = afterRead(text)
    response.end(JSON.stringify(document))
  })
  const port = await listen(t, server)
  const phone = createPhone({ username: 'other_1', password: 'secret' }, `http://127.0.0.1:${port}`)
  return { port, phone, clock: new FakeClock(), credentials: '' }
}

function idOf(text: string): string {
  return `blake3v1:${sha256(text)}`
}
