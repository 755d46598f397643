import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as pause } from 'node:timers/promises'
import { MIB } from '../../src/core/limits.ts'
import { MemoryTurn } from '../../src/lib/memory-turn.ts'
import type { StagingArea } from '../../src/ports/staging-area.ts'
import { serveGateway } from '../support/gateway.ts'
import { RawClient } from '../support/raw-http.ts'
import { form, part, PNG, post, rawForm, refusal } from './support/forms.ts'

const FILE = [part('type', 'File'), part('hash', 'ab')]

describe('a file in POST /api/history', () => {
  // Protocol: It is called by its file name
  it('is called by its own name, else dataName, else the text, else somehow', async (t) => {
    const { phone } = await serveGateway(t)
    const cases: readonly (readonly [name: string, ...parts: readonly string[]])[] = [
      ['a', part('data', 'x', '; filename="a"'), part('dataName', 'b'), part('text', 'c')],
      ['b', part('data', 'x', '; filename=""'), part('dataName', 'b'), part('text', 'c')],
      ['c', part('data', 'x'), part('text', 'c')],
      ['clipboard.bin', part('text', 'c\nd'), part('data', 'x')],
      ['clipboard.bin', part('text', 'x'.repeat(300)), part('data', 'x')],
      ['clipboard.bin', part('data', 'x')],
    ]
    for (const [name, ...parts] of cases) {
      await post(phone, rawForm(...FILE, ...parts))
      assert.equal((await phone.document())['dataName'], name)
    }
  })

  it('may not be called like a path, and then nothing is kept', async (t) => {
    const { phone, countBlobs } = await serveGateway(t)
    for (const name of ['..', '../x', 'a/b', 'C:\\\\fakepath\\\\a', 'a%0Ab', 'x'.repeat(256)]) {
      const init = rawForm(...FILE, part('data', 'x', `; filename="${name}"`))
      assert.deepEqual(await refusal(phone, init), [400, 'BAD_NAME'], name)
    }
    const behind = [part('data', 'x', '; filename="a"'), part('dataName', '../b')]
    assert.deepEqual(await refusal(phone, rawForm(...FILE, ...behind)), [400, 'BAD_NAME'])
    assert.equal(await countBlobs(), 0)
  })

  // Protocol: The file is the part `data`
  it('is the part called data before others, and one only', async (t) => {
    for (const names of [
      ['thumbnail', 'data', 'extra'],
      ['data', 'thumbnail'],
      ['data', 'data'],
    ]) {
      const { phone, countBlobs } = await serveGateway(t)
      const files = names.map((name, index) => [name, `${name}.bin`, `${name} ${index}`] as const)
      await post(phone, form([['type', 'File'], ['hash', 'ab'], ...files]))
      assert.equal((await phone.document())['dataName'], 'data.bin')
      assert.equal(String(await phone.download()), `data ${names.indexOf('data')}`)
      assert.equal(await countBlobs(), 1)
    }
  })

  it('is the first of several when none is called data', async (t) => {
    const { phone, countBlobs } = await serveGateway(t)
    const files = [
      ['one', 'one.bin', 'one'],
      ['two', 'two.bin', 'two'],
    ] as const
    await post(phone, form([['type', 'File'], ['hash', 'ab'], ...files]))
    assert.equal(String(await phone.download()), 'one')
    assert.equal(await countBlobs(), 1)
  })

  it('is an image when its bytes or its name say so, and its type does not', async (t) => {
    const { phone } = await serveGateway(t)
    const png = PNG.toString('latin1')
    for (const [name, type, content, mediaType] of [
      ['blob', '\r\nContent-Type: application/octet-stream', png, 'image/png'],
      ['a.heic', '', 'heic', 'image/heic'],
      ['x', '\r\nContent-Type: image/*', png, 'image/png'],
    ] as const) {
      const file = part('data', content, `; filename="${name}"${type}`)
      const record = await post(phone, rawForm(...FILE, file))
      assert.equal(record['type'], 'Image')
      const { headers } = await phone.fetch(`/file/${name}`)
      assert.equal(headers.get('content-type'), mediaType)
      assert.equal((await phone.fetch('/api/history/File-ab')).status, 200, 'as it was pushed')
    }
  })

  // Protocol: Its media type is found as for
  it('keeps the type that the client names', async (t) => {
    const { phone } = await serveGateway(t)
    const file = part('data', 'x', '; filename="a.png"\r\nContent-Type: text/csv')
    await post(phone, rawForm(...FILE, file))
    const { headers } = await phone.fetch('/file/a.png')
    assert.equal(headers.get('content-type'), 'text/csv')
  })

  // Protocol: An empty file of a Text counts as none
  it('is the text of a Text, unless it is empty', async (t) => {
    const { phone, countBlobs } = await serveGateway(t)
    const fields = [
      ['type', 'Text'],
      ['hash', 'ab'],
      ['text', 'the wh…'],
    ] as const
    const { text, size, hasData } = await post(
      phone,
      form([...fields, ['data', 'long.txt', 'the whole text']]),
    )
    assert.deepEqual([text, size, hasData], ['the whole text', 14, false])
    assert.equal((await phone.document())['text'], 'the whole text')
    const record = await post(phone, form([...fields, ['data', 'long.txt', '']]))
    assert.equal(record['text'], 'the wh…')
    assert.equal(await countBlobs(), 0)
  })

  it('is refused as a text that is not UTF-8, or too long, and nothing is kept', async (t) => {
    const { phone, countBlobs } = await serveGateway(t, { maxMetadataBytes: 100 })
    const send = (content: Uint8Array) =>
      refusal(
        phone,
        form([
          ['type', 'Text'],
          ['hash', 'ab'],
          ['data', 'a', content],
        ]),
      )
    assert.deepEqual(await send(Buffer.from([0xff])), [400, 'BAD_BODY'])
    assert.deepEqual(await send(Buffer.alloc(101, 'x')), [413, 'BODY_TOO_LARGE'])
    const inline = rawForm(part('type', 'Text'), part('hash', 'ab'), part('text', '\xff'))
    assert.deepEqual(await refusal(phone, inline), [400, 'BAD_BODY'])
    assert.deepEqual([await countBlobs(), (await phone.document())['text']], [0, ''])
  })

  it('keeps logins from the memory of the fields before it for five seconds at most', async (t) => {
    const said: string[] = []
    let onGiveWay = (): void => undefined
    const givenWay = new Promise<void>((resolve) => (onGiveWay = resolve))
    let onFile = (): void => undefined
    const fileBegun = new Promise<void>((resolve) => (onFile = resolve))
    const receive: StagingArea['receive'] = (...upload) => {
      onFile()
      return storage.staging.receive(...upload)
    }
    const { clock, port, authorization, storage } = await serveGateway(t, { staging: { receive } })
    MemoryTurn.of(clock).holder = {
      isTight: true,
      giveWay: async () => {
        said.push('logins wait')
        onGiveWay()
      },
      goOn: () => void said.push('logins go on'),
    }
    const fields = ['Host: x', `Authorization: ${authorization}`, 'Transfer-Encoding: chunked']
    const head = [...fields, 'Content-Type: multipart/form-data; boundary=b', '', ''].join('\r\n')
    const client = await RawClient.open(t, port)
    const send = (text: string) => client.send(`${text.length.toString(16)}\r\n${text}\r\n`)
    client.send(`POST /api/history HTTP/1.1\r\n${head}`)
    send(`--b\r\n${part('text', 'x'.repeat(MIB + 70_000))}`)
    await givenWay
    await pause()
    clock.advance(4_999)
    send(`\r\n--b\r\n${part('data', 'x', '; filename="a"')}`)
    await fileBegun
    assert.deepEqual(said, ['logins wait'])
    clock.advance(1)
    await pause()
    assert.deepEqual(said, ['logins wait', 'logins go on'])
    send(`\r\n--b\r\n${part('type', 'File')}\r\n--b\r\n${part('hash', 'ab')}\r\n--b--\r\n`)
    send('')
    assert.equal((await client.read()).status, 200)
    assert.deepEqual(said.slice(2), ['logins wait', 'logins go on'])
  })

  it('is not kept when it cannot be read back', async (t) => {
    const receive: StagingArea['receive'] = async (...upload) => {
      const received = await storage.staging.receive(...upload)
      const open = () => Promise.reject(new Error('too many open files'))
      return { ...received, blob: { ...received.blob, open } }
    }
    const { phone, storage, countBlobs } = await serveGateway(t, { staging: { receive } })
    const init = rawForm(...FILE, part('data', 'x', '; filename="a"'))
    assert.deepEqual(await refusal(phone, init), [500, 'INTERNAL'])
    assert.equal(await countBlobs(), 0)
  })

  it('is not kept when the form breaks off', async (t) => {
    const { phone, countBlobs } = await serveGateway(t)
    const whole = rawForm(...FILE, part('data', 'xyz', '; filename="a"'))
    assert.ok(Buffer.isBuffer(whole.body), 'bytes')
    for (const end of [3, 4, 8, 9, 10, 12, 100]) {
      const init: RequestInit = { ...whole, body: whole.body.subarray(0, -end) }
      assert.deepEqual((await refusal(phone, init))[0], 400, String(end))
    }
    assert.deepEqual([await countBlobs(), (await phone.document())['text']], [0, ''])
  })
})
