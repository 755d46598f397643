import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { DomainError } from '../../src/core/domain-error.ts'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'
import { readObject } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'
import {
  form,
  part,
  PNG,
  post,
  put,
  REFERENCE,
  refusal,
  urlencoded,
  type Fields,
  type FormPart,
} from './support/forms.ts'
import { MIB } from '../../src/core/limits.ts'

const MULTIPART = 'multipart/form-data; boundary=b'

/** Asks for leave to send a body, and returns the status of what comes first. */
async function askFirst(
  t: TestContext,
  { port, authorization }: { readonly port: number; readonly authorization: string },
  contentType: string,
  length: number,
): Promise<number> {
  const client = await RawClient.open(t, port)
  const fields = [
    'Host: x',
    `Authorization: ${authorization}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${length}`,
    'Expect: 100-continue',
  ]
  client.send(['POST /api/history HTTP/1.1', ...fields, '', ''].join('\r\n'))
  return (await client.read()).status
}

describe('POST /api/history', () => {
  // Protocol, History: `POST /api/history`
  // Protocol: required; a hint, which becomes an alias
  it('makes a text current, and answers with its record', async (t) => {
    const { phone, clock } = await serveGateway(t)
    const hash = sha256('hello').toUpperCase()
    const at = new Date(clock.now()).toISOString()
    assert.deepEqual(await post(phone, urlencoded({ type: 'text', hash, text: 'hello' })), {
      hash,
      type: 'Text',
      text: 'hello',
      createTime: at,
      lastModified: at,
      lastAccessed: at,
      starred: false,
      pinned: false,
      size: 5,
      hasData: false,
      version: 0,
      isDeleted: false,
    })
    assert.equal((await phone.document())['text'], 'hello')
    await post(phone, urlencoded({ type: 'Text', hash: 'MyOwn', text: 'hello' }))
    assert.equal((await phone.fetch('/api/history/Text-myown')).status, 200, 'an alias')
  })

  // Protocol: told back in the record
  it('tells back when the item was made and used, and what became of it', async (t) => {
    const { phone, clock } = await serveGateway(t)
    const told = {
      ...{ createTime: '2020-01-01T00:00:00.000Z', lastModified: '2020-01-02T00:00:00.000Z' },
      ...{ lastAccessed: '2020-01-03T00:00:00.000Z', starred: true, pinned: true },
      ...{ version: 7, isDeleted: true },
    }
    const send = (fields: object) => {
      const texts = Object.entries(fields).map(([name, value]) => [name, String(value)])
      const own = { type: 'Text', hash: '00', text: 'a' }
      return post(phone, urlencoded({ ...own, ...Object.fromEntries(texts) }))
    }
    const record = await send(told)
    assert.deepEqual({ ...record, ...told }, record)
    const { starred, version, createTime } = await send({
      starred: '?',
      version: '?',
      createTime: '?',
    })
    const now = new Date(clock.now()).toISOString()
    assert.deepEqual([starred, version, createTime], [false, 0, now])
  })

  // Protocol: a hint, ignored where the bytes are here
  // Protocol: the file, in a multipart form
  it('makes a file current, wherever its name and its type stand in the form', async (t) => {
    const forms: readonly (readonly FormPart[])[] = [
      [
        ['type', 'Image'],
        ['hash', 'AB'],
        ['data', 'a.png', PNG],
      ],
      [
        ['data', 'a.png', PNG],
        ['hash', 'AB'],
        ['type', 'Image'],
      ],
      [
        ['TYPE', 'image'],
        ['Data', 'a.png', PNG],
        ['Hash', 'AB'],
      ],
      [
        ['type', 'Image'],
        ['size', '99'],
        ['file', 'a.png', PNG],
        ['hash', 'AB'],
      ],
    ]
    for (const parts of forms) {
      const { phone, countBlobs, countWaiting } = await serveGateway(t)
      const { hash, type, text, size, hasData } = await post(phone, form(parts))
      const expected = ['AB', 'Image', 'a.png', PNG.length, true]
      assert.deepEqual([hash, type, text, size, hasData], expected)
      assert.equal((await phone.document())['dataName'], 'a.png')
      assert.deepEqual(await phone.download(), PNG)
      const { headers } = await phone.fetch('/file/a.png')
      assert.equal(headers.get('content-type'), 'image/png')
      assert.deepEqual([await countBlobs(), countWaiting()], [1, 0])
    }
  })

  // Protocol, Pushing: required, in any letter case
  // Protocol: More than 256 characters are none
  it('needs a type, then a hash', async (t) => {
    const { phone, countBlobs } = await serveGateway(t)
    const withFile = (fields: Fields) => form([['data', 'a', 'x'], ...Object.entries(fields)])
    for (const encode of [urlencoded, withFile]) {
      for (const [fields, missing] of [
        [{}, /"type"/],
        [{ type: 'Song', hash: 'ab' }, /"type"/],
        [{ type: 'Text' }, /"hash"/],
        [{ type: 'Text', hash: '' }, /"hash"/],
        [{ type: 'Text', hash: 'a'.repeat(257) }, /"hash"/],
      ] as const) {
        const response = await phone.fetch('/api/history', encode(fields))
        const { code, detail } = await readObject(response)
        assert.deepEqual([response.status, code], [400, 'BAD_BODY'])
        assert.match(String(detail), missing)
      }
    }
    assert.equal(await countBlobs(), 0)
    assert.equal((await phone.document())['text'], '')
  })

  it('does not blank a clipboard with an empty text', async (t) => {
    const { phone } = await serveGateway(t)
    const empty = sha256('')
    for (const before of ['', 'before']) {
      if (before !== '') await phone.pushText(before)
      for (const init of [
        urlencoded({ type: 'Text', hash: empty }),
        form([
          ['type', 'Text'],
          ['hash', empty],
          ['data', 'a.txt', ''],
        ]),
      ]) {
        const { hash, type, text, size } = await post(phone, init)
        assert.deepEqual([hash, type, text, size], [empty, 'Text', '', 0])
        assert.equal((await phone.document())['text'], before)
      }
    }
  })

  it('reads what is no multipart form as an urlencoded one', async (t) => {
    const { phone } = await serveGateway(t)
    const fields = 'type=Text&hash=ab&text=hello'
    for (const type of ['text/plain', 'application/json', 'multipart/mixed; boundary=b', 'x']) {
      const init = { method: 'POST', body: fields, headers: { 'content-type': type } }
      assert.equal((await post(phone, init))['text'], 'hello')
      const none = { ...init, body: '{"type":"Text","hash":"ab"}' }
      assert.deepEqual(await refusal(phone, none), [400, 'BAD_BODY'])
    }
    assert.deepEqual(await refusal(phone, { method: 'POST' }), [400, 'BAD_BODY'])
  })

  describe('without a file', () => {
    // Protocol: as in a document
    it('takes what the same device has staged', async (t) => {
      const { phone, addPhone } = await serveGateway(t)
      await phone.fetch('/file/a.png', put('png'))
      const init = urlencoded({ type: 'File', hash: 'ab', dataName: 'a.png', hasData: 'true' })
      assert.deepEqual(await refusal(await addPhone(), init), [404, 'NOTHING_STAGED'])
      assert.equal((await post(phone, init))['size'], 3)
      assert.equal((await phone.document())['dataName'], 'a.png')
    })

    it('never applies the preview of a long text', async (t) => {
      const { phone } = await serveGateway(t)
      const fields = {
        type: 'Text',
        hash: 'ab',
        text: 'the wh…',
        dataName: 'a.txt',
        hasData: 'true',
      }
      const withEmptyFile = form([...Object.entries(fields), ['data', 'a.txt', '']])
      for (const init of [urlencoded(fields), withEmptyFile]) {
        assert.deepEqual(await refusal(phone, init), [404, 'NOTHING_STAGED'])
      }
      await phone.fetch('/file/a.txt', put('the whole text'))
      assert.equal((await post(phone, urlencoded(fields)))['text'], 'the whole text')
    })

    it('acknowledges a long text that turns out to be empty', async (t) => {
      const { phone } = await serveGateway(t)
      await phone.pushFile('File', 'before', Buffer.from('before'))
      await phone.fetch('/file/a.txt', put(''))
      const fields = { type: 'Text', hash: 'ab', dataName: 'a.txt', hasData: 'true' }
      assert.equal((await post(phone, urlencoded(fields)))['type'], 'Text')
      assert.equal((await phone.document())['dataName'], 'before')
    })

    it('means the current item when that is the one', async (t) => {
      const { phone, clock } = await serveGateway(t)
      await phone.pushFile('File', 'a', Buffer.from('one'))
      clock.advance(1000)
      const record = await post(phone, urlencoded({ type: 'File', hash: sha256('one') }))
      assert.equal(record['createTime'], new Date(clock.now()).toISOString())
    })
  })

  describe('is refused', () => {
    it('when there is no room, before a byte of it', async (t) => {
      const full = new DomainError('NO_SPACE', 'Cannot stage')
      const staging = { admit: () => Promise.reject(full) }
      const gateway = await serveGateway(t, { staging })
      assert.equal(await askFirst(t, gateway, MULTIPART, 5000), 507)
    })

    it('only when what its file can be has no room', async (t) => {
      const asked: unknown[] = []
      const staging = { admit: async (source: unknown) => void asked.push(source) }
      const { phone, device } = await serveGateway(t, { maxFileBytes: 300, staging })
      await post(
        phone,
        form([
          ['type', 'File'],
          ['hash', 'ab'],
          ['data', 'a', 'x'],
        ]),
      )
      await post(phone, urlencoded({ type: 'Text', hash: 'ab', text: 'x' }))
      const { id: deviceId, passwordHash } = device
      assert.deepEqual(asked, [{ deviceId, passwordHash, declaredSize: 300 }])
    })
  })

  describe('holds memory', () => {
    /** Sends the beginning of a form of about 100 KB, in which a text of 70 KB has come. */
    async function begin(t: TestContext, end: string) {
      const served = await serveGateway(t)
      const fields = [part('type', 'Text'), part('text', 'x'.repeat(70_000)), end]
      const { phone, port, authorization } = served
      const client = await RawClient.open(t, port)
      const login = `Authorization: ${authorization}`
      const lines = ['Host: x', login, `Content-Type: ${MULTIPART}`, 'Content-Length: 100000']
      const body = fields.map((field) => `--b\r\n${field}\r\n`).join('')
      client.send(['POST /api/history HTTP/1.1', ...lines, '', body].join('\r\n'))
      return { client, phone }
    }

    it('no longer than it is read: a refused one whose rest never comes', async (t) => {
      const { client, phone } = await begin(t, 'no field of a header\r\n\r\n')
      assert.equal((await client.read()).status, 400)
      await phone.pushText('x'.repeat(16 * MIB - 100))
    })

    it('no more than it has announced', async (t) => {
      const { client, phone } = await begin(t, part('hash', 'AB'))
      // By the time that it is answered the form is being read.
      await phone.document()
      await phone.pushText('x'.repeat(15 * MIB))
      client.close()
    })
  })

  describe('and the document that follows', () => {
    it('makes current what was kept', async (t) => {
      const { phone, countWaiting } = await serveGateway(t)
      for (const [type, name, content] of [
        ['Image', 'a.png', PNG],
        ['File', 'a.bin', 'bytes'],
        ['Group', 'a.zip', 'PK'],
      ] as const) {
        const parts = [
          ['type', type],
          ['hash', 'AB'],
          ['data', name, content],
        ] as const
        const before = await phone.document()
        await post(phone, form(parts, REFERENCE))
        assert.deepEqual([await phone.document(), countWaiting()], [before, 1])
        for (const document of [
          { type, hash: 'ab' },
          { type, dataName: name, hasData: true, hash: 'other' },
        ]) {
          const init = put(JSON.stringify(document), REFERENCE)
          const response = await phone.fetch('/SyncClipboard.json', init)
          const { contentId, dataName } = await phone.document()
          assert.deepEqual([await readObject(response), dataName], [{ contentId }, name])
        }
        assert.equal(countWaiting(), 0)
      }
    })

    it('makes a long text current too', async (t) => {
      const { phone } = await serveGateway(t)
      const hash = sha256('the whole text').toUpperCase()
      const file = ['data', 'a.txt', 'the whole text'] as const
      await post(phone, form([['type', 'Text'], ['hash', hash], file], REFERENCE))
      const document = { type: 'Text', text: 'the wh…', hash, hasData: true, dataName: 'a.txt' }
      const init = put(JSON.stringify(document), REFERENCE)
      assert.equal((await phone.fetch('/SyncClipboard.json', init)).status, 200)
      assert.equal((await phone.document())['text'], 'the whole text')
    })
  })

  describe('with a text of megabytes', () => {
    // As many bytes as are kept as they come, and few enough characters to be remembered.
    const TEXT = `${'写"\\\t\0🙂'.repeat(140_000)}The End`
    const FIELDS = { type: 'Text', text: TEXT, hash: sha256(TEXT).toUpperCase() }

    for (const [kind, encode] of [
      ['an urlencoded form', urlencoded],
      ['a multipart form', (one: Fields, headers?: Fields) => form(Object.entries(one), headers)],
    ] as const) {
      /** A difference of megabytes is nothing to print. */
      const isWhole = ({ text, size = TEXT.length }: Record<string, unknown>) =>
        text === TEXT && size === TEXT.length

      it(`makes all of it current, in ${kind}`, async (t) => {
        const { phone, storage } = await serveGateway(t)
        assert.ok(isWhole(await post(phone, encode({ ...FIELDS, hash: 'own' }))))
        for (const hash of ['own', FIELDS.hash, FIELDS.hash.toLowerCase()]) {
          assert.ok(isWhole(await readObject(await phone.fetch(`/api/history/Text-${hash}`))))
        }
        const { text, contentId } = await phone.document()
        assert.ok(text === TEXT)
        await phone.pushText(TEXT)
        assert.equal((await phone.document())['contentId'], contentId)
        for (const [searchText, found] of [
          ['写"\\\tTHE e', 0],
          ['\0🙂THE e', 1],
        ] as const) {
          const init = urlencoded({ searchText })
          const records: unknown = await (await phone.fetch('/api/history/query', init)).json()
          assert.ok(Array.isArray(records) && records.length === found)
          assert.ok(records.every(isWhole))
        }
        const { latest } = await storage.restart()
        assert.ok(latest.current?.item.text === TEXT)
      })

      it(`keeps all of it for the document that may follow, in ${kind}`, async (t) => {
        const { phone } = await serveGateway(t)
        assert.ok(isWhole(await post(phone, encode(FIELDS, REFERENCE))))
        const { hash } = FIELDS
        const kept = await phone.fetch(`/api/history/Text-${hash}`, { headers: REFERENCE })
        assert.ok(isWhole(await readObject(kept)))
        const document = { type: 'Text', text: '写…', hash, hasData: true, dataName: 'a.txt' }
        const init = put(JSON.stringify(document), REFERENCE)
        assert.equal((await phone.fetch('/SyncClipboard.json', init)).status, 200)
        assert.ok((await phone.document())['text'] === TEXT)
      })

      it(`takes none of it for that of a file, in ${kind}`, async (t) => {
        const { phone } = await serveGateway(t)
        await phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
        const hash = sha256('bytes')
        const record = await post(phone, encode({ ...FIELDS, type: 'File', hash, hasData: 'true' }))
        assert.deepEqual([record['text'], record['type']], ['a.bin', 'File'])
        const kept = await post(phone, encode({ ...FIELDS, type: 'File' }, REFERENCE))
        assert.deepEqual([kept['text'] === TEXT, kept['size']], [true, 0])
      })
    }

    it('is refused where its JSON is too long, or it is no text', async (t) => {
      const { phone } = await serveGateway(t, { maxMetadataBytes: 2 * MIB })
      for (const headers of [{}, REFERENCE]) {
        const init = form(Object.entries(FIELDS), headers)
        assert.deepEqual((await refusal(phone, init))[0], 413)
        const type = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
        const body = `type=Text&hash=ab&text=${'x'.repeat(MIB)}%ff`
        const bad = { method: 'POST', headers: type, body }
        assert.deepEqual(await refusal(phone, bad), [400, 'BAD_BODY'])
      }
    })
  })

  it('is told back shortly where its text is not the item', async (t) => {
    const { phone } = await serveGateway(t)
    // The upload is empty, and an empty text is none.
    await phone.fetch('/file/a.txt', { method: 'PUT', body: '' })
    const text = '\x01'.repeat(20_000)
    const named = { type: 'Text', hash: 'a'.repeat(64), dataName: 'a.txt' }
    const body = new URLSearchParams({ ...named, text, hasData: 'true' })
    const answer = await phone.fetch('/api/history', { method: 'POST', body })
    assert.equal(answer.status, 200)
    assert.equal((await readObject(answer))['text'], '\x01'.repeat(4096))
  })
})
