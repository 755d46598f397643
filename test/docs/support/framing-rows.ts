/**
 * docs/protocol.md about framing, row by row.
 * @module
 */

import assert from 'node:assert/strict'
import type { RowCheck } from './row-check.ts'
import { openStation } from './station.ts'

const HEAD = 'PUT /Sync.json HTTP/1.1\r\nHost: box\r\n'
const LENGTH = 'Content-Length: 2\r\n'

const MALFORMED =
  'both Content-Length and Transfer-Encoding, doubled or odd lengths, broken chunks, ' +
  'folded headers, a bare line feed, a doubled or odd Host, or none in HTTP/1.1 | 400'

export const FRAMING_ROWS: Readonly<Record<string, RowCheck>> = {
  [MALFORMED]: answers(
    400,
    `${HEAD}${LENGTH}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${HEAD}${LENGTH}${LENGTH}\r\n{}`,
    `${HEAD}Content-Length: -2\r\n\r\n{}`,
    // Only who may send a body gets to break it.
    `${HEAD}Authorization: LOGIN\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n`,
    `${HEAD}X-A: b\r\n c\r\n\r\n`,
    `GET / HTTP/1.1\nHost: box\n\n`,
    `${HEAD}Host: box\r\n\r\n`,
    'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
  ),
  'a transfer coding other than chunked, or any in HTTP/1.0 | 501': answers(
    501,
    `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    'PUT /Sync.json HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ),
  'a version other than HTTP/1.0 and 1.1 | 505': answers(
    505,
    'GET / HTTP/2.0\r\nHost: box\r\n\r\n',
    'GET / HTTP/1.2\r\nHost: box\r\n\r\n',
    'GET / HTTP/0.9\r\nHost: box\r\n\r\n',
  ),
  'a header section of more than 16 KiB or 256 fields | 431': answers(
    431,
    `GET / HTTP/1.1\r\nHost: box\r\nX-A: ${'b'.repeat(16 * 1024)}\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: box\r\n${'a: b\r\n'.repeat(256)}\r\n`,
  ),
  'a request target of more than 8,192 characters | 414': answers(
    414,
    `GET /${'x'.repeat(8192)} HTTP/1.1\r\nHost: box\r\n\r\n`,
  ),
}

/** Shows that each of these requests gets this status, and one without the fault does not. */
function answers(status: number, ...requests: readonly string[]): RowCheck {
  return async (t) => {
    const { send, authorization } = await openStation(t)
    assert.equal(await send('GET /healthz HTTP/1.1\r\nHost: box\r\n\r\n'), 204)
    for (const request of requests) {
      const answered = await send(request.replace('LOGIN', authorization))
      assert.equal(answered, status, JSON.stringify(request.slice(0, 99)))
    }
  }
}
