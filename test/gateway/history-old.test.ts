import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'
import { readObject } from '../support/phone.ts'
import {
  form,
  PNG,
  post,
  put,
  REFERENCE,
  refusal,
  urlencoded,
  type Fields,
} from './support/forms.ts'

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

  it('is answered with all of a long text', async (t) => {
    const { phone } = await serveGateway(t)
    const text = '"写\n🧀'.repeat(100_000)
    const record = await post(phone, urlencoded({ type: 'Text', hash: 'AB', text }, REFERENCE))
    assert.ok(record['text'] === text)
    const again = await phone.fetch('/api/history/Text-AB', { headers: REFERENCE })
    assert.deepEqual(await readObject(again), record)
  })

  // Protocol: perhaps the beginning only
  it('is found however long its text is, so that the document may follow', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    const other = await addPhone()
    const text = '漢字 🧀 '.repeat(250_000)
    const fields = { type: 'Text', hash: sha256(text).toUpperCase(), text }
    await post(phone, urlencoded(fields, REFERENCE))
    await post(other, urlencoded({ ...fields, hash: 'ab' }, REFERENCE))
    const path = `/api/history/Text-${fields.hash}`
    const again = await phone.fetch(path, { headers: REFERENCE })
    const record = await readObject(again)
    const told = [again.status, record['hash'], record['size'], record['hasData']]
    assert.deepEqual(told, [200, fields.hash, text.length, false])
    const body = JSON.stringify({ ...fields, hasData: false })
    const document = { method: 'PUT', body, headers: REFERENCE }
    assert.equal((await phone.fetch('/SyncClipboard.json', document)).status, 200)
    assert.ok((await phone.document())['text'] === text)
  })

  // Protocol: In the dialect `syncclipboard` every record is
  it('is a record in the dialect syncclipboard, whatever its times say', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await post(phone, urlencoded({ type: 'Text', hash: 'a', text: 'a' }, REFERENCE))
    assert.equal((await phone.document())['text'], '')
    await phone.pushText('current')
    for (const ms of [1e9, MINUTE, 30_000, 0, -MINUTE]) {
      const fields = { type: 'Text', hash: `${ms}`, text: 'record', lastAccessed: ago(clock, ms) }
      await post(phone, urlencoded(fields, REFERENCE))
      assert.equal((await phone.document())['text'], 'current', `${ms}`)
    }
  })

  // Protocol: a record is kept whose own time
  it('is judged in the dialect sync by when it was used last, else made, else changed', async (t) => {
    const { phone, clock } = await serveGateway(t)
    const push = async (text: string, fields: Fields) => {
      await post(phone, urlencoded({ type: 'Text', hash: text, text, ...fields }))
      return (await phone.document())['text']
    }
    assert.equal(await push('first', { createTime: ago(clock, 1e9) }), 'first')
    await phone.pushText('current')
    const [now, older] = [ago(clock, 0), ago(clock, 1)]
    assert.equal(await push('a', { lastAccessed: older, createTime: now }), 'current')
    assert.equal(await push('b', { createTime: older, lastModified: now }), 'current')
    assert.equal(await push('c', { lastModified: older }), 'current')
    assert.equal(await push('d', { lastAccessed: now, createTime: older }), 'd')
    const never = { lastAccessed: '0001-01-01T00:00:00', createTime: 'never' }
    assert.equal(await push('e', never), 'e')
    assert.equal(await push('f', {}), 'f')
  })

  // Protocol: that is deleted
  it('is what was deleted on its device, however new', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await phone.pushText('current')
    const fields = { type: 'Text', hash: 'AB', text: 'deleted', lastAccessed: ago(clock, -MINUTE) }
    const record = await post(phone, urlencoded({ ...fields, isDeleted: 'True' }))
    assert.deepEqual([record['isDeleted'], record['text']], [true, 'deleted'])
    assert.equal((await phone.document())['text'], 'current')
    await post(phone, urlencoded({ ...fields, isDeleted: 'False' }))
    assert.equal((await phone.document())['text'], 'deleted')
  })

  // Protocol: since the clock here was put right
  it('is none for what is new, although the clock was set back', async (t) => {
    const { phone, clock } = await serveGateway(t)
    await phone.pushText('current')
    clock.jump(-60 * MINUTE)
    const fields = { type: 'Text', hash: 'AB', text: 'new', createTime: ago(clock, 5) }
    await post(phone, urlencoded(fields))
    assert.equal((await phone.document())['text'], 'new')
  })

  // Protocol: means the end of them
  it('is none for a push whose time is in whole seconds, minutes or days', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    const other = await addPhone()
    const now = ago(clock, 0)
    for (const length of ['2026-01-31'.length, '2026-01-31T12:34'.length, now.indexOf('.')]) {
      const createTime = now.slice(0, length)
      await other.pushText(`before ${createTime}`)
      await post(
        phone,
        urlencoded({ type: 'Text', hash: createTime, text: createTime, createTime }),
      )
      assert.equal((await phone.document())['text'], createTime)
    }
    const createTime = ago(clock, 1000).slice(0, now.indexOf('.'))
    await other.pushText('later')
    await post(await addPhone(), urlencoded({ type: 'Text', hash: 'AB', text: 'old', createTime }))
    assert.equal((await phone.document())['text'], 'later')
  })

  it('is none for what comes behind records that were refused, however much newer these are', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    await (await addPhone()).pushText('before')
    const [older, newer, newest] = [
      ago(clock, -MINUTE),
      ago(clock, -MINUTE - 1),
      ago(clock, -MINUTE - 2),
    ]
    clock.advance(2 * MINUTE)
    const refused = (lastAccessed: string) => {
      const fields = { type: 'Text', hash: lastAccessed, hasData: 'true', lastAccessed }
      const file = ['data', 'a.txt', Buffer.from([0xff, 0xfe])] as const
      return refusal(phone, form([...Object.entries(fields), file]))
    }
    const bad = [400, 'BAD_BODY']
    assert.deepEqual(await Promise.all([refused(newer), refused(newest)]), [bad, bad])
    await post(phone, urlencoded({ type: 'Text', hash: 'A', text: 'a', lastAccessed: older }))
    assert.equal((await phone.document())['text'], 'a')
  })

  it('is found when a newer one that is under way has been applied, and is none when that is refused', async (t) => {
    for (const [bytes, status, current] of [
      [[0xff, 0xfe], 400, 'older'],
      [[0x61], 200, 'a'],
    ] as const) {
      const { phone, addPhone, clock, inbound } = await serveGateway(t)
      await (await addPhone()).pushText('before')
      const [older, newer] = [ago(clock, -MINUTE), ago(clock, -MINUTE - 1)]
      clock.advance(2 * MINUTE)
      const apply = inbound.apply.bind(inbound)
      const applied = new Promise<() => void>((resolve) => {
        inbound.apply = async (item) => {
          inbound.apply = apply
          await new Promise<void>((goOn) => resolve(goOn))
          return apply(item)
        }
      })
      const fields = { type: 'Text', hash: sha256('a'), hasData: 'true', lastAccessed: newer }
      const file = ['data', 'a.txt', Buffer.from(bytes)] as const
      const first = phone.fetch('/api/history', form([...Object.entries(fields), file]))
      const goOn = await applied
      const second = post(
        phone,
        urlencoded({ type: 'Text', hash: 'B', text: 'older', lastAccessed: older }),
      )
      // It has come before these are answered.
      for (const _ of [1, 2, 3]) assert.equal((await phone.document())['text'], 'before')
      goOn()
      assert.equal((await first).status, status)
      await second
      assert.equal((await phone.document())['text'], current)
    }
  })

  it('is none for what is copied again once the clock of the device is right', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    const copy = async (lastAccessed: string) => {
      await post(phone, urlencoded({ type: 'Text', hash: 'A', text: 'a', lastAccessed }))
      return (await phone.document())['text']
    }
    const tomorrow = ago(clock, -24 * 60 * MINUTE)
    assert.equal(await copy(tomorrow), 'a')
    await (await addPhone()).pushText('of another one')
    clock.advance(10_000)
    assert.equal(await copy(tomorrow), 'of another one')
    assert.equal(await copy(ago(clock, 0)), 'a')
  })

  for (const behind of [10 * MINUTE, -10 * MINUTE]) {
    // Protocol: their own times count
    it(`is told by the own clock of its device, which is ${behind / MINUTE} minutes behind`, async (t) => {
      const { phone, addPhone, clock } = await serveGateway(t)
      const copy = async (text: string, at = ago(clock, behind)) => {
        await post(phone, urlencoded({ type: 'Text', hash: text, text, lastAccessed: at }))
        clock.advance(10_000)
        return (await phone.document())['text']
      }
      const [first, second] = [ago(clock, behind), ago(clock, behind - 10_000)]
      assert.equal(await copy('first', first), 'first')
      assert.equal(await copy('second', second), 'second')
      // It posts its history, and then something new.
      assert.equal(await copy('first', first), 'second')
      assert.equal(await copy('second', second), 'second')
      assert.equal(await copy('third'), 'third')
      assert.equal(await copy('first'), 'first')

      await (await addPhone()).pushText('of another one')
      assert.equal(await copy('second', second), 'of another one')
      assert.equal(await copy('first', first), 'of another one')
    })
  }

  // Protocol: as is one whose `User-Agent` begins with
  it('is what UniClip posts, however far its clock is ahead, until its document comes', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    const headers = { 'user-agent': 'UniClip/1.0.0' }
    await phone.fetch('/file/a.png', { method: 'PUT', body: PNG, headers })
    const photo = { type: 'Image', dataName: 'a.png', hasData: true, hash: sha256(PNG) }
    const document = (fields: object) =>
      phone.fetch('/SyncClipboard.json', put(JSON.stringify(fields), headers))
    assert.equal((await document(photo)).status, 200)
    await (await addPhone()).pushText('current')
    const lastAccessed = ago(clock, -4 * MINUTE)
    const text = { type: 'Text', hash: sha256('a'), text: 'a' }
    await post(phone, urlencoded({ ...text, lastAccessed }, headers))
    assert.equal((await phone.document())['text'], 'current')
    assert.equal((await document(text)).status, 200)
    assert.equal((await phone.document())['text'], 'a')
  })

  it('is none for a push of a clock that was further ahead before', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    const other = await addPhone()
    for (const minutes of [10, 2]) {
      await other.pushText('of another one')
      clock.advance(5000)
      const [text, lastAccessed] = [`${minutes}`, ago(clock, -minutes * MINUTE)]
      await post(phone, urlencoded({ type: 'Text', hash: text, text, lastAccessed }))
      assert.equal((await phone.document())['text'], text)
    }
  })

  // Protocol: memory lasts and its file waits
  it('is not among those that a client may leave out once its bytes are gone', async (t) => {
    const { phone } = await serveGateway(t)
    const record = (hash: string, content: string) =>
      form(
        [
          ['type', 'File'],
          ['hash', hash],
          ['data', 'report.txt', content],
        ],
        REFERENCE,
      )
    const asks = async (hash: string) =>
      (await phone.fetch(`/api/history/File-${hash}`, { headers: REFERENCE })).status
    const pushes = async (hash: string) => {
      const document = { type: 'File', hash, dataName: 'report.txt', hasData: true }
      const init = put(JSON.stringify(document), REFERENCE)
      return (await phone.fetch('/SyncClipboard.json', init)).status
    }
    const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
    await post(phone, record(one, 'version one'))
    assert.equal(await asks(one), 200)
    // A later version takes its place: whoever means the first is not given the second.
    await post(phone, record(two, 'version two'))
    assert.deepEqual([await asks(one), await asks(two)], [404, 200])
    assert.equal(await pushes(one), 404)
    assert.equal(await pushes(two), 200)
    assert.equal((await phone.download()).toString(), 'version two')
    await phone.pushText('something else')
    await phone.fetch('/file/other.bin', { method: 'PUT', body: 'other' })
    await phone.fetch(
      '/SyncClipboard.json',
      put('{"type":"File","dataName":"other.bin","hasData":true}'),
    )
    assert.equal(await asks(two), 404)
    await post(phone, record(two, 'version two'))
    assert.equal(await pushes(two), 200)
  })

  // Protocol: which a document with the hash of the
  // Protocol: one with the hash of something else does not
  it('is made current by its own document, and by none of another photo of its name', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    await (await addPhone()).pushFile('Image', 'b.png', PNG)
    const older = Buffer.concat([PNG, Buffer.from('older')])
    const kept = (hash: string) =>
      form([
        ['type', 'Image'],
        ['hash', hash],
        ['lastAccessed', ago(clock, MINUTE)],
        ['data', 'image.png', older],
      ])
    const pushes = async (hash: string, type = 'Image') => {
      const document = { type, dataName: 'image.png', hasData: true, hash }
      const { status } = await phone.fetch('/SyncClipboard.json', put(JSON.stringify(document)))
      return [status, (await phone.document())['dataName']]
    }
    const other = sha256('newer')
    const own = sha256('its own way of hashing')
    const bound = sha256(`image.png|${sha256(older).toUpperCase()}`)
    for (const hash of [own.toUpperCase(), sha256(older), bound, '']) {
      await post(phone, kept(hash === '' ? own : hash))
      assert.deepEqual(await pushes(other), [404, 'b.png'])
      // As a File it is a record that nobody posted.
      for (const type of ['Image', 'File']) {
        await post(phone, kept(hash === '' ? own : hash))
        assert.deepEqual(await pushes(hash, type), [200, 'image.png'])
      }
      await phone.pushFile('Image', 'b.png', PNG)
    }
  })

  // Protocol: that was kept with its bytes is theirs
  it('shows that its device hashes as we do, and hears of no photo by the hash of another one', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    await (await addPhone()).pushFile('Image', 'b.png', PNG)
    const asks = async () => (await phone.fetch(`/api/history/Image-${sha256('newer')}`)).status
    const older = Buffer.concat([PNG, Buffer.from('older')])
    const kept = (type: string, hash: string) =>
      form([
        ['type', type],
        ['hash', hash],
        ['lastAccessed', ago(clock, MINUTE)],
        ['data', 'image.png', older],
      ])
    await post(phone, kept('Image', sha256('its own way of hashing')))
    await post(phone, kept('Text', sha256(older)))
    assert.equal(await asks(), 200)
    await post(phone, kept('Image', sha256(older).toUpperCase()))
    assert.equal(await asks(), 404)
  })

  it('keeps its bytes staged: a document of the same device makes them current', async (t) => {
    const { phone, addPhone, clock, countWaiting } = await serveGateway(t)
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
    assert.deepEqual([countWaiting(), (await phone.document())['text']], [1, 'current'])
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

  // Protocol: or the record's text
  it('is a text that its document makes current, though nobody sent a file of it', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('current')
    const text = 'a long text '.repeat(1000)
    const hash = sha256(text).toUpperCase()
    // A computer of the account got it in a document, and another one copies it.
    await post(phone, urlencoded({ type: 'Text', hash, text }, REFERENCE))
    const document = {
      type: 'Text',
      hash,
      text: text.slice(0, 99),
      dataName: 'a.txt',
      hasData: true,
    }
    const init = put(JSON.stringify(document), REFERENCE)
    assert.equal((await phone.fetch('/SyncClipboard.json', init)).status, 200)
    assert.equal((await phone.document())['text'], text)
  })

  // Protocol: and the record is gone
  it('is asked for with its bytes where a document could not make it current', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('current')
    for (const [type, dataName, content] of [
      ['Text', 'a.txt', 'a long text '.repeat(1000)],
      ['Image', 'a.png', PNG],
    ] as const) {
      const hash = sha256(content)
      // Only the beginning of the text.
      const fields = { type, hash, text: 'a long…' }
      const asks = async () =>
        (await phone.fetch(`/api/history/${type}-${hash}`, { headers: REFERENCE })).status
      const document = { ...fields, dataName, hasData: true }
      const pushes = async () =>
        (await phone.fetch('/SyncClipboard.json', put(JSON.stringify(document), REFERENCE))).status
      await post(phone, urlencoded(fields, REFERENCE))
      assert.equal(await asks(), 200)
      assert.equal(await pushes(), 404)
      assert.equal(await asks(), 404)
      const parts = [...Object.entries(fields), ['data', dataName, content] as const]
      await post(phone, form(parts, REFERENCE))
      assert.deepEqual([await asks(), await pushes()], [200, 200])
    }
    assert.deepEqual(await phone.download(), PNG)
  })
})
