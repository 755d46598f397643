import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { readObject } from '../support/phone.ts'
import { form, PNG, post, put, REFERENCE, urlencoded, type Fields } from './support/forms.ts'

const MINUTE = 60_000

/** A moment that long ago. */
function ago(clock: { now(): number }, ms: number): string {
  return new Date(clock.now() - ms).toISOString()
}

describe('an old item in POST /api/history', () => {
  it('is remembered for the device that sent it, and not made current', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    await phone.pushText('current')
    const createTime = ago(clock, MINUTE + 1)
    const fields = { type: 'Text', hash: 'AB', text: 'old', createTime, starred: 'true' }
    const record = await post(phone, urlencoded(fields, REFERENCE))
    const { hash, text, starred } = record
    assert.deepEqual([hash, text, starred, record['createTime']], ['AB', 'old', true, createTime])
    assert.equal((await phone.document())['text'], 'current')

    const again = await phone.fetch('/api/history/text-ab', { headers: REFERENCE })
    assert.deepEqual(await readObject(again), { ...record, hash: 'ab' })
    const other = await phone.fetch('/api/history/File-AB', { headers: REFERENCE })
    assert.equal(other.status, 404)
    assert.equal((await (await addPhone()).fetch('/api/history/Text-AB')).status, 404)
  })

  it('is refused when no document could have its text', async (t) => {
    const { phone, clock } = await serveGateway(t, { maxMetadataBytes: 300 })
    await phone.pushText('current')
    const fields = { type: 'Text', hash: 'AB', createTime: ago(clock, MINUTE + 1) }
    const push = async (text: string): Promise<number> => {
      const parts = Object.entries({ ...fields, text })
      return (await phone.fetch('/api/history', form(parts, REFERENCE))).status
    }
    assert.deepEqual([await push('\t'.repeat(50)), await push('\x01'.repeat(51))], [200, 413])
  })

  it('is none for what is new, although the clock was set back', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await phone.pushText('current')
    clock.jump(-60 * MINUTE)
    const fields = { type: 'Text', hash: 'AB', text: 'new', createTime: ago(clock, 0) }
    await post(phone, urlencoded(fields, REFERENCE))
    assert.equal((await phone.document())['text'], 'new')
  })

  it('is judged by when it was used last, else made', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await phone.pushText('current')
    const push = async (text: string, fields: Fields) => {
      await post(phone, urlencoded({ type: 'Text', hash: text, text, ...fields }, REFERENCE))
      return (await phone.document())['text']
    }
    const [now, minute, older] = [0, MINUTE, MINUTE + 1].map((ms) => ago(clock, ms))
    assert.ok(now !== undefined && minute !== undefined && older !== undefined, 'three moments')
    assert.equal(await push('a', { lastAccessed: older, createTime: now }), 'current')
    assert.equal(await push('b', { lastAccessed: minute, createTime: older }), 'b')
    assert.equal(await push('c', { createTime: older }), 'b')
    assert.equal(await push('d', { lastModified: older }), 'd')
    const never = { lastAccessed: '0001-01-01T00:00:00', createTime: 'never' }
    assert.equal(await push('e', never), 'e')
  })

  it('is a push like any other in the dialect sync, and where nothing is current', async (t) => {
    const { phone, clock } = await serveGateway(t)
    const createTime = ago(clock, 10 * MINUTE)
    const fields = (text: string) => ({ type: 'Text', hash: text, text, createTime })
    await post(phone, urlencoded(fields('first'), REFERENCE))
    assert.equal((await phone.document())['text'], 'first')
    await post(phone, urlencoded(fields('second')))
    assert.equal((await phone.document())['text'], 'second')
  })

  it('keeps its bytes staged: a document of the same device makes them current', async (t) => {
    const { phone, addPhone, clock, memory } = await serveGateway(t)
    await phone.pushText('current')
    const fields = [
      ['type', 'Image'],
      ['hash', 'AB'],
      ['createTime', ago(clock, 1e9)],
    ] as const
    const { text, size, hasData } = await post(
      phone,
      form([...fields, ['data', 'a.png', PNG]], REFERENCE),
    )
    assert.deepEqual([text, size, hasData], ['a.png', PNG.length, true])
    assert.deepEqual([memory.count, (await phone.document())['text']], [1, 'current'])
    const data = '/api/history/Image-AB/data'
    assert.equal((await phone.fetch(data, { headers: REFERENCE })).status, 404)

    const init = put('{"type":"Image","hash":"AB","dataName":"a.png","hasData":true}', REFERENCE)
    const other = await (await addPhone()).fetch('/SyncClipboard.json', init)
    assert.equal(other.status, 404)
    assert.equal((await phone.fetch('/SyncClipboard.json', init)).status, 200)
    assert.equal((await phone.document())['dataName'], 'a.png')
    assert.deepEqual(await phone.download(), PNG)
    assert.equal((await phone.fetch(data, { headers: REFERENCE })).status, 200)
  })

  it('keeps the bytes of a long text staged as well', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await phone.pushText('current')
    const fields = [
      ['type', 'Text'],
      ['hash', 'AB'],
      ['createTime', ago(clock, 1e9)],
    ] as const
    const file = ['data', 'a.txt', 'the whole text'] as const
    await post(phone, form([...fields, ['text', 'the wh…'], file], REFERENCE))
    const document = { type: 'Text', text: 'the wh…', dataName: 'a.txt', hasData: true }
    const init = put(JSON.stringify(document), REFERENCE)
    assert.equal((await phone.fetch('/SyncClipboard.json', init)).status, 200)
    assert.equal((await phone.document())['text'], 'the whole text')
  })

  it('needs no bytes: there is nothing to apply', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await phone.pushText('current')
    const createTime = ago(clock, 1e9)
    const fields = { type: 'File', hash: 'AB', dataName: 'a.bin', size: '7', createTime }
    const { text, size, hasData } = await post(phone, urlencoded(fields, REFERENCE))
    assert.deepEqual([text, size, hasData], ['a.bin', 7, true])
  })
})
