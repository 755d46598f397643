/**
 * Every line of draft-ietf-httpbis-resumable-upload-12 that binds a server, byte by byte. The
 * numbers are those of its sections.
 */

import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { commit, serveUploads, type UploadGateway } from './support/upload-client.ts'
import { sha256 } from '../support/hashes.ts'
import type { RawResponse } from '../support/raw-http.ts'

const HOUR = 3_600_000

const LAST = 'Upload-Complete: ?1'
const MORE = 'Upload-Complete: ?0'
const PIECE = 'Content-Type: application/partial-upload'
const INTEROP = 'Upload-Draft-Interop-Version: 9'
const REGISTRY = 'https://iana.org/assignments/http-problem-types#'

/** The header fields of uploads in an answer. */
function uploadFields({ headers }: RawResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('upload-')))
}

async function offsetOf({ ask }: UploadGateway, path: string): Promise<number> {
  const { status, headers } = await ask(`HEAD ${path}`, [])
  assert.equal(status, 204)
  return Number(headers['upload-offset'])
}

/** A gateway, and an upload that was begun there. */
async function serveBegun(t: TestContext, first = 'hello', more: readonly string[] = []) {
  const at = await serveUploads(t)
  return { at, path: await at.create(first, more) }
}

/** Makes an upload the item. @returns Its bytes. */
async function readBack(at: UploadGateway, dataName: string): Promise<string> {
  assert.equal(await commit(at, dataName), 200)
  return String(await at.phone.download())
}

async function assertNothingKept({ storage }: UploadGateway): Promise<void> {
  assert.deepEqual([await storage.blobFiles(), await storage.stagingFiles()], [[], []])
}

/** Begins to append, and waits until the gateway wants the body. */
async function beginPatch(
  { begin }: UploadGateway,
  path: string,
  offset: number,
  ...more: readonly string[]
) {
  const fields = [PIECE, `Upload-Offset: ${offset}`, 'Expect: 100-continue', ...more]
  const client = await begin(`PATCH ${path}`, ...fields)
  assert.equal((await client.read()).status, 100)
  return client
}

describe('an upload that can be resumed', () => {
  // Protocol: goes on where it was
  it('goes on where it was cut, and is staged like one that came at once (4.2, 4.3, 4.4)', async (t) => {
    const { at, path } = await serveBegun(t, 'hello ')
    const cut = await beginPatch(at, path, 6, LAST, 'Content-Length: 13')
    cut.send('resum').close()
    const offset = await offsetOf(at, path)
    assert.ok(offset >= 6 && offset <= 11, String(offset))
    const last = await at.patch(path, offset, 'hello resumed world'.slice(offset))
    assert.deepEqual([last.status, last.body], [200, ''])
    assert.deepEqual(uploadFields(last), { 'upload-complete': '?1' })
    assert.equal(await readBack(at, 'a.bin'), 'hello resumed world')
  })

  it('is what its first bytes and its first request say, like any other', async (t) => {
    const at = await serveUploads(t)
    const png = '\x89PNG\r\n\x1a\n and so on'
    const path = await at.create(png.slice(0, 3), ['Content-Type: application/octet-stream'], 'x')
    await at.patch(path, 3, png.slice(3))
    assert.equal(await commit(at, 'x'), 200)
    assert.equal((await at.phone.document())['type'], 'Image')
    const response = await at.phone.fetch('/file/x')
    assert.equal(response.headers.get('content-type'), 'image/png')
  })

  it('leaves an earlier one of its name alone until it is complete', async (t) => {
    const at = await serveUploads(t)
    await at.phone.fetch('/file/a.bin', { method: 'PUT', body: 'first' })
    await at.create('second')
    assert.equal(await readBack(at, 'a.bin'), 'first')
  })

  it('has no other answers than a plain one when it says nothing of being one', async (t) => {
    const at = await serveUploads(t)
    const answer = await at.ask('PUT /file/a', [], 'hello')
    assert.equal(answer.status, 200)
    assert.deepEqual(Object.keys(answer.headers).sort(), [
      'cache-control',
      'connection',
      'content-length',
      'cross-origin-resource-policy',
      'date',
      'keep-alive',
      'x-content-type-options',
    ])
  })
})

describe('the creation of an upload (4.2)', () => {
  const creations: readonly (readonly [string, readonly string[], string, number])[] = [
    ['a part', [MORE], 'hello', 201],
    ['a part and the length', [MORE, 'Upload-Length: 10'], 'hello', 201],
    ['nothing yet', [MORE], '', 201],
    ['all of it', [LAST], 'hello', 200],
    ['an empty file', [LAST], '', 200],
    ['all of it, and the length', [LAST, 'Upload-Length: 5'], 'hello', 200],
  ]
  for (const interop of [[], [INTEROP]]) {
    for (const [what, fields, body, status] of creations) {
      const who = interop.length === 0 ? 'another version' : 'the same version'
      it(`with ${what} is ${status} to a client of ${who}`, async (t) => {
        const at = await serveUploads(t)
        const client = await at.begin(
          'PUT /file/a',
          `Content-Length: ${body.length}`,
          ...fields,
          ...interop,
        )
        let answer = await client.send(body).read()
        if (interop.length > 0) {
          // Section 4.2.2: the interim answer MUST include Location and Upload-Limit.
          assert.equal(answer.status, 104)
          assert.match(answer.headers['location'] ?? '', /^\/file-uploads\/[0-9a-f]{32}$/)
          assert.equal(answer.headers['upload-limit'], 'max-size=10737418240, max-age=3600')
          assert.equal(answer.headers['upload-draft-interop-version'], '9')
          const { location } = answer.headers
          answer = await client.read()
          // Section 4.2.2: all answers to a request MUST have the same Location.
          if (status === 201) assert.equal(answer.headers['location'], location)
        }
        assert.equal(answer.status, status)
        assert.equal(answer.headers['upload-complete'], status === 200 ? '?1' : '?0')
        if (status === 201) {
          assert.match(answer.headers['location'] ?? '', /^\/file-uploads\/[0-9a-f]{32}$/)
          assert.equal(answer.headers['upload-limit'], 'max-size=10737418240, max-age=3600')
          assert.equal(answer.headers['upload-offset'], String(body.length))
        } else {
          assert.equal(await readBack(at, 'a'), body)
        }
      })
    }
  }

  it('records the length of both kinds of requests (4.1.3)', async (t) => {
    const at = await serveUploads(t)
    const paths = [await at.create('', ['Upload-Length: 9'])]
    const client = await at.begin('PUT /file/b', LAST, INTEROP, 'Content-Length: 9')
    paths.push((await client.read()).headers['location'] ?? '')
    client.close()
    for (const path of paths) {
      const { headers } = await at.ask(`HEAD ${path}`, [])
      assert.equal(headers['upload-length'], '9')
      assert.equal(headers['upload-complete'], '?0')
    }
  })

  for (const version of ['8', '10', '9, 9', 'nine', '?1']) {
    it(`gets no interim answer for version ${version} (appendix B)`, async (t) => {
      const at = await serveUploads(t)
      const other = `Upload-Draft-Interop-Version: ${version}`
      assert.equal((await at.ask('PUT /file/a', [MORE, other], 'hello')).status, 201)
    })
  }

  for (const field of ['X-Forwarded-For: 10.0.0.1', 'Forwarded: for=10.0.0.1', 'Via: 1.1 box']) {
    it(`gets no interim answer through a proxy that says ${field}`, async (t) => {
      const at = await serveUploads(t)
      assert.equal((await at.ask('PUT /file/a', [MORE, INTEROP, field], 'hello')).status, 201)
      assert.equal((await at.ask('PUT /file/a', [LAST, INTEROP, field], 'hello')).status, 200)
    })
  }

  it('gets 100 behind 104 when it waits for it (5)', async (t) => {
    const at = await serveUploads(t)
    const fields = [LAST, INTEROP, 'Expect: 100-continue', 'Content-Length: 5']
    const client = await at.begin('PUT /file/a', ...fields)
    assert.equal((await client.read()).status, 104)
    assert.equal((await client.read()).status, 100)
    assert.equal((await client.send('hello').read()).status, 200)
  })

  it('keeps what came before a break, for who was told where (4.2.2)', async (t) => {
    const at = await serveUploads(t)
    const client = await at.begin('PUT /file/a', LAST, INTEROP, 'Content-Length: 11')
    const { headers } = await client.read()
    client.send('hello').socket.end()
    assert.match(await client.readToEnd(), /^HTTP\/1\.1 400 /)
    const path = headers['location'] ?? ''
    const state = await at.ask(`HEAD ${path}`, [])
    assert.equal(state.headers['upload-offset'], '5')
    // An upload that was interrupted MUST NOT be considered complete.
    assert.equal(state.headers['upload-complete'], '?0')
    assert.equal(await commit(at, 'a'), 404)
    assert.equal((await at.patch(path, 5, ' world')).status, 200)
  })

  it('leaves nothing of a break where nobody could go on', async (t) => {
    const at = await serveUploads(t)
    const client = await at.begin('PUT /file/a', LAST, 'Content-Length: 11')
    client.send('hello').socket.end()
    assert.match(await client.readToEnd(), /^HTTP\/1\.1 400 /)
    await assertNothingKept(at)
  })

  for (const value of ['1', 'true', '?2', '"?1"', '?0, ?1', '(?1)', '']) {
    it(`is a plain upload with Upload-Complete: ${value} (4.1.2)`, async (t) => {
      const at = await serveUploads(t)
      const answer = await at.ask('PUT /file/a', [`Upload-Complete: ${value}`], 'hello')
      assert.equal(answer.status, 200)
      assert.deepEqual(uploadFields(answer), {})
    })
  }

  for (const value of ['-1', '1.0', '"5"', '1234567890123456', '5, 5', '?1', '']) {
    it(`knows no length from Upload-Length: ${value} (4.1.3)`, async (t) => {
      const { at, path } = await serveBegun(t, 'hello', [`Upload-Length: ${value}`])
      const { headers } = await at.ask(`HEAD ${path}`, [])
      assert.equal(headers['upload-length'], undefined)
    })
  }

  it('takes fields with parameters, which mean nothing (RFC 9651 section 3.1.2)', async (t) => {
    const at = await serveUploads(t)
    const fields = ['Upload-Complete:  ?0;a;b=1 ', 'Upload-Length: 007;x="y"']
    const { status, headers } = await at.ask('PUT /file/a', fields, 'hello')
    assert.equal(status, 201)
    const state = await at.ask(`HEAD ${headers['location']}`, [])
    assert.equal(state.headers['upload-length'], '7')
  })

  it('is refused with two lengths that do not match (4.1.3, 7.2)', async (t) => {
    const at = await serveUploads(t)
    for (const interop of [[], [INTEROP]]) {
      const answer = await at.ask('PUT /file/a', [LAST, 'Upload-Length: 6', ...interop], 'hello')
      assert.equal(answer.status, 400)
      assert.equal(answer.headers['content-type'], 'application/problem+json')
      assert.equal(JSON.parse(answer.body).type, `${REGISTRY}inconsistent-upload-length`)
    }
    assert.deepEqual(await at.storage.blobFiles(), [])
  })

  it('is refused above the limit, with the limit (4.1.4)', async (t) => {
    const at = await serveUploads(t, { maxFileBytes: 10, limits: { maxFileBytes: 10 } })
    for (const fields of [[LAST], [MORE], [LAST, INTEROP]]) {
      const answer = await at.ask('PUT /file/a', fields, 'x'.repeat(11))
      assert.equal(answer.status, 413)
      assert.equal(answer.headers['upload-limit'], 'max-size=10')
    }
    const long = await at.ask('PUT /file/a', [MORE, 'Upload-Length: 11'], 'hello')
    assert.equal(long.status, 413)
    const plain = await at.ask('PUT /file/a', [], 'x'.repeat(11))
    assert.equal(plain.status, 413)
    assert.deepEqual(uploadFields(plain), { 'upload-limit': 'max-size=10' })
    const client = await at.begin('PUT /file/a', 'Transfer-Encoding: chunked')
    const chunked = await client.send('b\r\nhello world\r\n0\r\n\r\n').read()
    assert.deepEqual([chunked.status, chunked.headers['upload-limit']], [413, 'max-size=10'])
    assert.deepEqual(await at.storage.blobFiles(), [])
  })

  // Protocol: The `Location` may be relative
  it('says a place that is right below a path, and without it', async (t) => {
    const at = await serveUploads(t, { publicUrl: 'https://box.example/clip/' })
    const location = await at.create('hello')
    for (const root of ['https://box.example/clip', at.url]) {
      const { href } = new URL(location, `${root}/file/a.bin`)
      assert.ok(href.startsWith(`${root}/file-uploads/`), href)
    }
    const { pathname } = new URL(location, `${at.url}/file/a.bin`)
    assert.equal((await at.patch(pathname, 5, ' world')).status, 200)
  })
})

describe('the limits of uploads (4.1.4)', () => {
  it('are told before there is one', async (t) => {
    const at = await serveUploads(t)
    const { status, headers } = await at.ask('OPTIONS /file/a', [])
    assert.equal(status, 204)
    assert.equal(headers['upload-limit'], 'max-size=10737418240')
    assert.equal(headers['allow'], 'GET, HEAD, PUT, OPTIONS')
  })

  it('hold for uploads of unknown length, of which nothing is left then', async (t) => {
    const at = await serveUploads(t, { maxFileBytes: 10, limits: { maxFileBytes: 10 } })
    const path = await at.create('hello')
    assert.equal((await at.patch(path, 5, 'x'.repeat(6), [MORE])).status, 413)
    assert.equal(await offsetOf(at, path), 5)
    const client = await beginPatch(at, path, 5, MORE, 'Transfer-Encoding: chunked')
    const answer = await client.send('6\r\nworld!\r\n0\r\n\r\n').read()
    assert.equal(answer.status, 413)
    assert.equal(answer.headers['upload-limit'], 'max-size=10')
    assert.equal((await at.ask(`HEAD ${path}`, [])).status, 404)
    assert.deepEqual(await at.storage.blobFiles(), [])
  })
})

describe('the offset of an upload (4.3)', () => {
  for (const method of ['HEAD', 'GET']) {
    it(`is told to ${method}, with all of the state, and never cached`, async (t) => {
      const { at, path } = await serveBegun(t, 'hello', ['Upload-Length: 11'])
      at.clock.advance(1000)
      const { status, headers, body } = await at.ask(`${method} ${path}`, [])
      assert.deepEqual([status, body], [204, ''])
      assert.deepEqual(uploadFields({ status, headers, body }), {
        'upload-offset': '5',
        'upload-complete': '?0',
        'upload-length': '11',
        'upload-limit': 'max-size=10737418240, max-age=3599',
      })
      assert.equal(headers['cache-control'], 'no-store')
    })
  }

  // Protocol: Offsets never go back
  it('is taken by the next request, and never decreases (4.1.1, 4.6)', async (t) => {
    const { at, path } = await serveBegun(t, '')
    let before = 0
    for (const piece of ['a', '', 'bc', 'd'.repeat(70_000), 'e']) {
      const offset = await offsetOf(at, path)
      assert.ok(offset >= before)
      const answer = await at.patch(path, offset, piece, [MORE])
      assert.equal(answer.status, 204)
      assert.equal(answer.headers['upload-offset'], String(offset + piece.length))
      before = offset + piece.length
    }
    assert.equal(await offsetOf(at, path), before)
  })

  it('is counted without the coding of the transfer (9)', async (t) => {
    const { at, path } = await serveBegun(t, '')
    const client = await beginPatch(at, path, 0, MORE, 'Transfer-Encoding: chunked')
    const answer = await client.send('2;x=y\r\nab\r\n3\r\ncde\r\n0\r\n\r\n').read()
    assert.equal(answer.headers['upload-offset'], '5')
    assert.equal(await offsetOf(at, path), 5)
  })

  it('is the whole once the upload is complete', async (t) => {
    const { at, path } = await serveBegun(t)
    await at.patch(path, 5, ' world')
    const state = await at.ask(`HEAD ${path}`, [])
    assert.deepEqual(uploadFields(state), {
      'upload-offset': '11',
      'upload-complete': '?1',
      'upload-length': '11',
      'upload-limit': 'max-size=10737418240, max-age=3600',
    })
  })
})

describe('what is appended to an upload (4.4)', () => {
  it('may come as many pieces, and end with none', async (t) => {
    const { at, path } = await serveBegun(t)
    assert.deepEqual(uploadFields(await at.patch(path, 5, ' wor', [MORE])), {
      'upload-complete': '?0',
      'upload-offset': '9',
    })
    await at.patch(path, 9, 'ld', [MORE])
    // Section 4.1.3: the offset may be the length, and the upload is still not complete.
    assert.equal(await commit(at, 'a.bin'), 404)
    assert.equal((await at.patch(path, 11, '')).status, 200)
    assert.equal(await readBack(at, 'a.bin'), 'hello world')
  })

  for (const offset of [0, 4, 6, 999]) {
    it(`is refused at the offset ${offset} instead of 5, with the right one (7.1)`, async (t) => {
      const { at, path } = await serveBegun(t)
      const answer = await at.patch(path, offset, 'x')
      assert.equal(answer.status, 409)
      assert.deepEqual(uploadFields(answer), { 'upload-offset': '5', 'upload-complete': '?0' })
      assert.equal(answer.headers['content-type'], 'application/problem+json')
      const { type, ...problem } = JSON.parse(answer.body)
      assert.equal(type, `${REGISTRY}mismatching-upload-offset`)
      assert.equal(problem['expected-offset'], 5)
      assert.equal(problem['provided-offset'], offset)
      assert.equal(await offsetOf(at, path), 5)
    })
  }

  const refused: readonly (readonly [string, readonly string[], number])[] = [
    ['another media type', ['Upload-Offset: 5', LAST, 'Content-Type: text/plain'], 415],
    ['no media type', ['Upload-Offset: 5', LAST], 415],
    ['no offset', [PIECE, LAST], 400],
    ['an offset that is no integer', [PIECE, LAST, 'Upload-Offset: five'], 400],
    ['a negative offset', [PIECE, LAST, 'Upload-Offset: -5'], 400],
    ['two offsets', [PIECE, LAST, 'Upload-Offset: 5', 'Upload-Offset: 5'], 400],
    ['nothing about being complete', [PIECE, 'Upload-Offset: 5'], 400],
    ['something else about being complete', [PIECE, 'Upload-Offset: 5', 'Upload-Complete: 1'], 400],
    ['another length', [PIECE, 'Upload-Offset: 5', LAST, 'Upload-Length: 9'], 400],
    ['less than has come', [PIECE, 'Upload-Offset: 5', MORE, 'Upload-Length: 4'], 400],
    ['a coding of its content', [PIECE, 'Upload-Offset: 5', LAST, 'Content-Encoding: gzip'], 415],
  ]
  for (const [what, fields, status] of refused) {
    it(`is refused with ${what}, and nothing of it is kept`, async (t) => {
      const { at, path } = await serveBegun(t)
      assert.equal((await at.ask(`PATCH ${path}`, fields, 'x')).status, status)
      assert.equal(await offsetOf(at, path), 5)
    })
  }

  it('tells the length, also before the last piece', async (t) => {
    const { at, path } = await serveBegun(t)
    assert.equal((await at.patch(path, 5, ' ', [MORE, 'Upload-Length: 11'])).status, 204)
    assert.equal((await at.ask(`HEAD ${path}`, [])).headers['upload-length'], '11')
    // Section 4.1.3: what several requests say MUST match.
    for (const other of [[MORE, 'Upload-Length: 12'], [LAST]]) {
      const answer = await at.patch(path, 6, 'x', other)
      assert.equal(answer.status, 400)
      assert.equal(answer.headers['upload-complete'], '?0')
      assert.equal(JSON.parse(answer.body).type, `${REGISTRY}inconsistent-upload-length`)
    }
    assert.equal((await at.patch(path, 6, 'world')).status, 200)
  })

  it('does not pass the length: the upload is gone then (4.4.2)', async (t) => {
    const { at, path } = await serveBegun(t, 'hello', ['Upload-Length: 7'])
    const client = await beginPatch(at, path, 5, MORE, 'Transfer-Encoding: chunked')
    const answer = await client.send('3\r\nxyz\r\n0\r\n\r\n').read()
    assert.equal(answer.status, 400)
    assert.equal(answer.headers['upload-complete'], '?0')
    for (const request of ['HEAD', 'PATCH', 'DELETE']) {
      const fields = [PIECE, 'Upload-Offset: 7', LAST]
      assert.equal((await at.ask(`${request} ${path}`, fields)).status, 404)
    }
    await assertNothingKept(at)
  })

  it('that ends before the length is kept, and not complete', async (t) => {
    const { at, path } = await serveBegun(t, 'hello', ['Upload-Length: 11'])
    const client = await beginPatch(at, path, 5, LAST, 'Transfer-Encoding: chunked')
    const answer = await client.send('1\r\n \r\n0\r\n\r\n').read()
    assert.equal(answer.status, 400)
    assert.equal(await offsetOf(at, path), 6)
    assert.equal((await at.patch(path, 6, 'world')).status, 200)
  })

  it('is kept as far as it has come when it breaks off, from its beginning on', async (t) => {
    const { at, path } = await serveBegun(t)
    const client = await beginPatch(at, path, 5, LAST, 'Content-Length: 6')
    client.send(' wor').socket.end()
    assert.match(await client.readToEnd(), /^HTTP\/1\.1 400 /)
    const state = await at.ask(`HEAD ${path}`, [])
    assert.equal(state.headers['upload-offset'], '9')
    assert.equal(state.headers['upload-complete'], '?0')
    await at.patch(path, 9, 'ld')
    assert.equal(await readBack(at, 'a.bin'), 'hello world')
  })

  it('is answered again when the last answer was lost, and not taken again', async (t) => {
    const { at, path } = await serveBegun(t)
    await at.patch(path, 5, ' world')
    const again = await at.patch(path, 11, '')
    assert.equal(again.status, 200)
    assert.deepEqual(uploadFields(again), { 'upload-complete': '?1' })
    for (const [offset, body] of [
      [5, ' world'],
      [11, '!'],
    ] as const) {
      const answer = await at.patch(path, offset, body, [MORE])
      assert.equal(answer.status, 409)
      assert.equal(answer.headers['upload-complete'], '?0')
    }
    assert.equal(await readBack(at, 'a.bin'), 'hello world')
  })

  it('is told its progress by interim answers without a Location (4.4.2)', async (t) => {
    const { at, path } = await serveBegun(t, '')
    const size = 40 * 1024 * 1024
    const client = await at.begin(
      `PATCH ${path}`,
      PIECE,
      LAST,
      INTEROP,
      'Upload-Offset: 0',
      `Content-Length: ${size}`,
    )
    client.send('x'.repeat(size))
    let told = 0
    let answer = await client.read()
    for (; answer.status === 104; answer = await client.read()) {
      assert.equal(answer.headers['location'], undefined)
      assert.equal(answer.headers['upload-draft-interop-version'], '9')
      const offset = Number(answer.headers['upload-offset'])
      assert.ok(offset > told && offset <= size)
      told = offset
    }
    assert.equal(answer.status, 200)
    assert.ok(told > 0)
  })
})

describe('an upload that is given up (4.5)', () => {
  it('is deactivated, and nothing of it is left', async (t) => {
    const { at, path } = await serveBegun(t)
    const answer = await at.ask(`DELETE ${path}`, [])
    assert.deepEqual([answer.status, answer.body], [204, ''])
    for (const method of ['HEAD', 'GET', 'DELETE']) {
      assert.equal((await at.ask(`${method} ${path}`, [])).status, 404)
    }
    assert.equal((await at.patch(path, 5, 'x')).status, 404)
    await assertNothingKept(at)
  })

  it('ends a request that still sends to it, without an answer', async (t) => {
    const { at, path } = await serveBegun(t)
    const client = await beginPatch(at, path, 5, LAST, 'Content-Length: 6')
    client.send(' wo')
    assert.equal((await at.ask(`DELETE ${path}`, [])).status, 204)
    assert.equal(await client.readToEnd(), '')
    assert.deepEqual(await at.storage.blobFiles(), [])
  })

  // Protocol: After `DELETE` nothing is left
  it('waits for no document when it was complete', async (t) => {
    const { at, path } = await serveBegun(t)
    await at.patch(path, 5, '')
    assert.equal((await at.ask(`DELETE ${path}`, [])).status, 204)
    assert.equal((await at.ask(`HEAD ${path}`, [])).status, 404)
    await assertNothingKept(at)
    assert.equal(await commit(at, 'a.bin'), 404)
  })

  it('stays with its item when that is current', async (t) => {
    const { at, path } = await serveBegun(t)
    await at.patch(path, 5, '')
    assert.equal(await commit(at, 'a.bin'), 200)
    assert.equal((await at.ask(`DELETE ${path}`, [])).status, 204)
    assert.equal(await at.phone.download().then(String), 'hello')
  })
})

describe('a request for an upload that another one is sending to (4.6)', () => {
  for (const method of ['HEAD', 'GET']) {
    // Protocol: One request at a time works on an upload
    it(`ends it, and ${method} tells an offset that holds`, async (t) => {
      const { at, path } = await serveBegun(t)
      const client = await beginPatch(at, path, 5, LAST, 'Content-Length: 6')
      client.send(' wo')
      const { headers } = await at.ask(`${method} ${path}`, [])
      assert.equal(await client.readToEnd(), '')
      const offset = Number(headers['upload-offset'])
      const rest = 'hello world'.slice(offset)
      assert.equal((await at.patch(path, offset, rest)).status, 200)
      assert.equal(await readBack(at, 'a.bin'), 'hello world')
    })
  }

  it('takes the place of the creation as well', async (t) => {
    const at = await serveUploads(t)
    const client = await at.begin('PUT /file/a', LAST, INTEROP, 'Content-Length: 11')
    const path = (await client.read()).headers['location'] ?? ''
    client.send('hello')
    const offset = await offsetOf(at, path)
    assert.equal(await client.readToEnd(), '')
    assert.equal((await at.patch(path, offset, 'hello world'.slice(offset))).status, 200)
    assert.equal(await readBack(at, 'a'), 'hello world')
  })

  it('is one of many, of which the bytes of one are kept', async (t) => {
    const { at, path } = await serveBegun(t, '')
    const letters = ['a', 'b', 'c', 'd', 'e', 'f']
    const answers = await Promise.allSettled(
      letters.map((letter) => at.patch(path, 0, letter.repeat(50_000))),
    )
    const whole = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.status] : []))
    assert.equal(whole.filter((status) => status === 200).length <= 1, true)
    const offset = await offsetOf(at, path)
    const state = await at.ask(`HEAD ${path}`, [])
    if (state.headers['upload-complete'] === '?0') await at.patch(path, offset, '')
    assert.equal(await commit(at, 'a.bin'), 200)
    const bytes = String(await at.phone.download())
    assert.equal(bytes.length, offset)
  })
})

describe('several clients that go on with one upload at once', () => {
  it('end each other, and what they send in the end is whole', async (t) => {
    const at = await serveUploads(t)
    const bytes = randomBytes(3_000_000).toString('latin1')
    const path = await at.create('', [`Upload-Length: ${bytes.length}`])
    let isComplete = false

    /** Asks, sends some of what is missing, and may be cut off by the others at any time. */
    async function goOn(): Promise<void> {
      const { headers } = await at.ask(`HEAD ${path}`, [])
      isComplete ||= headers['upload-complete'] === '?1'
      const offset = Number(headers['upload-offset'])
      const end = Math.min(bytes.length, offset + randomInt(1, 400_000))
      const fields = end === bytes.length ? [LAST] : [MORE]
      await at.patch(path, offset, bytes.slice(offset, end), fields)
    }

    const rounds = async (): Promise<void> => {
      // A client whose connection is closed asks again.
      while (!isComplete) await goOn().catch(() => undefined)
    }
    await Promise.all(Array.from({ length: 4 }, rounds))
    assert.equal(await commit(at, 'a.bin'), 200)
    assert.equal((await at.phone.download()).toString('latin1'), bytes)
    const { hash } = await at.phone.document()
    assert.equal(String(hash).toLowerCase(), sha256(Buffer.from(bytes, 'latin1')))
    assert.equal((await at.storage.stagingFiles()).length, 0)
    assert.equal((await at.storage.blobFiles()).length, 1)
  })
})

function digestOf(kind: 'Content' | 'Repr', body: string, algorithm = 'sha-256'): string {
  return `${kind}-Digest: ${algorithm}=:${Buffer.from(sha256(body), 'hex').toString('base64')}:`
}

describe('the digests of uploads (RFC 9530)', () => {
  const KINDS = ['Content', 'Repr'] as const

  // Protocol: Other bytes are 400 `DIGEST_MISMATCH`
  it('are those of the bytes, or nothing of a plain upload is kept', async (t) => {
    const at = await serveUploads(t)
    for (const kind of KINDS) {
      for (const fields of [[], [LAST]]) {
        const name = `${kind}${fields.length}`
        const put = `PUT /file/${name}`
        const wrong = await at.ask(put, [...fields, digestOf(kind, 'other')], 'hello')
        assert.deepEqual([wrong.status, JSON.parse(wrong.body).code], [400, 'DIGEST_MISMATCH'])
        assert.equal(await commit(at, name), 404)
        const right = await at.ask(put, [...fields, digestOf(kind, 'hello')], 'hello')
        assert.equal(right.status, 200)
        assert.equal(await readBack(at, name), 'hello')
      }
    }
  })

  // Protocol: Other algorithms are ignored
  it('mean nothing in another algorithm, or malformed', async (t) => {
    const at = await serveUploads(t)
    for (const kind of KINDS) {
      for (const field of [digestOf(kind, 'x', 'md5'), `${kind}-Digest: sha-256=oops`]) {
        assert.equal((await at.ask('PUT /file/a', [field], 'hello')).status, 200, field)
      }
    }
  })

  // Protocol: appends nothing
  it('of one request keep its bytes out when they are others', async (t) => {
    const { at, path } = await serveBegun(t, 'hello', [digestOf('Content', 'hello')])
    for (const fields of [[MORE], [LAST]]) {
      const wrong = await at.patch(path, 5, ' w0rld', [...fields, digestOf('Content', ' world')])
      assert.deepEqual([wrong.status, JSON.parse(wrong.body).code], [400, 'DIGEST_MISMATCH'])
      assert.equal(wrong.headers['upload-complete'], '?0')
      assert.equal(await offsetOf(at, path), 5)
    }
    const right = await at.patch(path, 5, ' world', [LAST, digestOf('Content', ' world')])
    assert.equal(right.status, 200)
    assert.equal(await readBack(at, 'a.bin'), 'hello world')
    const { hash } = await at.phone.document()
    assert.equal(String(hash).toLowerCase(), sha256('hello world'))
  })

  // Protocol: the ninth such request ends the upload, with 404
  it('of one request end an upload that had wrong ones too often', async (t) => {
    const { at, path } = await serveBegun(t)
    const fields = [MORE, digestOf('Content', 'other')]
    // Each has all that came before read again.
    for (let times = 1; times <= 8; times += 1) {
      assert.equal((await at.patch(path, 5, 'x', fields)).status, 400)
    }
    assert.equal(await offsetOf(at, path), 5)
    assert.equal((await at.patch(path, 5, 'x', fields)).status, 404)
    assert.equal((await at.ask(`HEAD ${path}`, [])).status, 404)
    assert.deepEqual(await at.storage.blobFiles(), [])
  })

  // Protocol: Bytes of a request that breaks off stay
  it('of one request leave what came of it when its connection broke', async (t) => {
    const { at, path } = await serveBegun(t, '')
    const digest = digestOf('Content', 'hello world')
    const cut = await beginPatch(at, path, 0, LAST, 'Content-Length: 11', digest)
    cut.send('hello')
    cut.close()
    const offset = await offsetOf(at, path)
    assert.ok(offset <= 5, String(offset))
    assert.equal((await at.patch(path, offset, 'hello world'.slice(offset))).status, 200)
  })

  // Protocol: holds for the whole
  it('of the whole end an upload that has another one', async (t) => {
    const at = await serveUploads(t)
    for (const [atBeginning, atEnd] of [
      [[digestOf('Repr', 'other')], []],
      [[], [digestOf('Repr', 'other')]],
    ] as const) {
      const path = await at.create('hello', atBeginning)
      const wrong = await at.patch(path, 5, ' world', [LAST, ...atEnd])
      assert.deepEqual([wrong.status, JSON.parse(wrong.body).code], [400, 'DIGEST_MISMATCH'])
      assert.equal((await at.ask(`HEAD ${path}`, [])).status, 404)
    }
    await assertNothingKept(at)
    const right = digestOf('Repr', 'hello world')
    const path = await at.create('hello', [right])
    assert.equal((await at.patch(path, 5, ' world', [LAST, right])).status, 200)
  })
})

describe('a failure while bytes come', () => {
  it('says that the upload is not complete, besides what it says anyway', async (t) => {
    const at = await serveUploads(t, {
      staging: {
        find: (deviceId, token) => ({
          source: { deviceId, declaredSize: undefined },
          token,
          dataName: 'a',
          offset: 0,
          length: undefined,
          isComplete: false,
          remainingMs: 1,
          seize: async () => ({
            setLength: async () => undefined,
            append: () => Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' })),
            truncate: async () => undefined,
            finish: () => Promise.reject(new Error('not reached')),
            discard: async () => undefined,
            release: () => undefined,
          }),
        }),
      },
    })
    const fields = [PIECE, LAST, 'Upload-Offset: 0', 'Content-Length: 0', 'Connection: close']
    const answer = await (await at.begin('PATCH /file-uploads/x', ...fields)).readToEnd()
    assert.match(answer, /^HTTP\/1\.1 503 /)
    assert.equal([...answer.matchAll(/^Retry-After: 1\r$/gm)].length, 1)
    assert.match(answer, /^Upload-Complete: \?0\r$/m)
  })
})

describe('an upload resource', () => {
  // Protocol: only the device that began an upload finds it
  it('is there for its device only (13)', async (t) => {
    const { at, path } = await serveBegun(t)
    const other = await at.addPhone()
    for (const method of ['HEAD', 'GET', 'PATCH', 'DELETE']) {
      const fields = [`Authorization: ${other.authorization}`, PIECE, 'Upload-Offset: 5', LAST]
      assert.equal((await at.ask(`${method} ${path}`, fields)).status, 404, method)
      const nobody = ['Authorization: Basic Og==', PIECE]
      assert.equal((await at.ask(`${method} ${path}`, nobody)).status, 401, method)
    }
    assert.equal(await offsetOf(at, path), 5)
  })

  for (const name of ['', '0'.repeat(32), '..', '%2e%2e%2fstaging', 'A'.repeat(32), 'x/y']) {
    it(`is not found as "${name}", whatever the disk has`, async (t) => {
      const at = await serveUploads(t)
      await at.create('hello')
      const { status } = await at.ask(`HEAD /file-uploads/${name}`, [])
      assert.ok(status === 404 || status === 400, String(status))
    })
  }

  it('is made anew for each upload', async (t) => {
    const at = await serveUploads(t)
    const paths = await Promise.all(Array.from({ length: 8 }, () => at.create('x')))
    assert.equal(new Set(paths).size, 8)
  })

  // Protocol: gets no byte for an hour is given up
  it('is gone when no byte has come for an hour, and not before', async (t) => {
    const { at, path } = await serveBegun(t)
    at.clock.advance(HOUR - 1)
    assert.equal((await at.patch(path, 5, ' ', [MORE])).status, 204)
    at.clock.advance(HOUR - 1)
    assert.equal(await offsetOf(at, path), 6)
    at.clock.advance(1)
    assert.equal((await at.ask(`HEAD ${path}`, [])).status, 404)
    await at.storage.close()
    await assertNothingKept(at)
  })

  it('tells for an hour that the upload is complete', async (t) => {
    const { at, path } = await serveBegun(t)
    await at.patch(path, 5, '')
    at.clock.advance(HOUR - 1)
    assert.equal((await at.ask(`HEAD ${path}`, [])).headers['upload-complete'], '?1')
    at.clock.advance(1)
    assert.equal((await at.ask(`HEAD ${path}`, [])).status, 404)
  })

  // Protocol: A device may have 16 such uploads
  it('is one of 16 that a device may have: one more ends the oldest', async (t) => {
    const at = await serveUploads(t)
    const other = await at.addPhone()
    const fields = [`Authorization: ${other.authorization}`, MORE]
    const foreign = (await at.ask('PUT /file/a', fields, 'other')).headers['location']
    const paths: string[] = []
    for (let index = 0; index < 17; index++) paths.push(await at.create('x'))
    const [oldest, ...others] = paths
    assert.equal((await at.ask(`HEAD ${oldest}`, [])).status, 404)
    for (const path of others) assert.equal(await offsetOf(at, path), 1)
    assert.equal((await at.ask(`HEAD ${foreign}`, fields.slice(0, 1))).status, 204)
    assert.equal((await at.storage.blobFiles()).length, 17)
  })

  for (const change of ['revoke', 'rotate'] as const) {
    // Protocol: Rotation and revocation end a device's uploads
    it(`is gone in the tick in which its device is ${change}d, with all that has come`, async (t) => {
      const { at, path } = await serveBegun(t)
      const token = path.split('/').at(-1) ?? ''
      const client = await beginPatch(at, path, 5, LAST, 'Content-Length: 6')
      client.send(' wo')
      const idle = await at.create('idle')
      await at.devices[change](at.device.id)
      assert.equal(at.storage.staging.find(at.device.id, token), undefined)
      assert.equal(at.storage.staging.find(at.device.id, idle.split('/').at(-1) ?? ''), undefined)
      assert.equal(await client.readToEnd(), '')
      await assertNothingKept(at)
    })
  }
})
