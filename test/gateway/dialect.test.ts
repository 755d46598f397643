import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openEvents } from '../support/event-reader.ts'
import { serveGuarded } from '../support/guarded-gateway.ts'
import { HubClient } from '../support/hub-client.ts'
import type { Phone } from '../support/phone.ts'
import { md5, sha256 } from '../support/hashes.ts'

const BYTES = Buffer.from('the bytes of a photo')
const NAME = 'photo.jpg'

const OF_BYTES = sha256(BYTES)
const OF_NAME = sha256(`${NAME}|${OF_BYTES.toUpperCase()}`).toUpperCase()

const DESKTOP = 'SyncClipboard.WinUI3.1.3'
const UNICLIP = 'UniClipboard/2.1'

/** A gateway with a file that somebody else has pushed, and what a client reads there. */
async function serve(t: TestContext) {
  const served = await serveGuarded(t)
  const other = await served.addPhone()
  const show = () => other.pushFile('File', NAME, BYTES)
  await show()
  const read = async (agent = 'app', path = '/SyncClipboard.json', phone: Phone = served.phone) => {
    const response = await phone.fetch(path, { headers: { 'User-Agent': agent } })
    // The body is a document.
    return (await response.json()) as Readonly<Record<string, unknown>>
  }
  return {
    ...served,
    other,
    show,
    hash: async (...asked: Parameters<typeof read>) => (await read(...asked))['hash'],
    read,
  }
}

async function push(phone: Phone, hash: string, agent = 'app'): Promise<void> {
  const headers = { 'User-Agent': agent }
  await phone.fetch(`/file/${NAME}`, { method: 'PUT', body: BYTES, headers })
  const body = JSON.stringify({ type: 'File', dataName: NAME, hasData: true, hash })
  assert.equal(
    (await phone.fetch('/SyncClipboard.json', { method: 'PUT', body, headers })).status,
    200,
  )
}

describe('the hash of a file that a client reads', () => {
  // Protocol: `/Sync.json` is of the dialect `sync`
  it('is that of the path where nothing else is known', async (t) => {
    const { hash } = await serve(t)
    assert.equal(await hash(), OF_NAME)
    assert.equal(await hash('app', '/Sync.json'), OF_BYTES)
  })

  // Protocol: A `User-Agent` that begins with
  it('is that of the program, wherever it is known by its name', async (t) => {
    const { hash, phone } = await serve(t)
    await push(phone, OF_BYTES)
    assert.equal(await hash(DESKTOP), OF_NAME)
    await push(phone, OF_NAME)
    assert.equal(await hash(UNICLIP), OF_BYTES)
    assert.equal(await hash(DESKTOP, '/Sync.json'), OF_BYTES)
  })

  it('is what the device does last, and stays so', async (t) => {
    const served = await serve(t)
    const { hash, show, phone } = served
    const deeds = [
      [() => push(phone, OF_BYTES.toUpperCase()), OF_BYTES],
      [() => push(phone, OF_NAME), OF_NAME],
      [() => openEvents(t, served.url, served.authorization), OF_BYTES],
      [() => HubClient.open(t, served), OF_NAME],
    ] as const
    for (const [deed, expected] of deeds) {
      await deed()
      served.clock.advance(1000)
      await served.other.pushText('in between')
      await show()
      assert.equal(await hash(), expected, String(deed))
      assert.equal(await hash('app', '/Sync.json'), OF_BYTES)
    }
  })

  it('is not that of an empty text, which changes nothing', async (t) => {
    const { hash, phone } = await serve(t)
    const body = JSON.stringify({ type: 'Text', text: '', hash: sha256('') })
    assert.equal((await phone.fetch('/SyncClipboard.json', { method: 'PUT', body })).status, 200)
    assert.equal(await hash(), OF_NAME)
  })

  it('is the one that it pushed itself, whatever it is', async (t) => {
    const { hash, phone, other } = await serve(t)
    for (const pushed of [md5(BYTES), OF_BYTES.toUpperCase(), OF_NAME.toLowerCase()]) {
      await push(phone, pushed)
      assert.equal(await hash(), pushed)
      assert.equal(await hash('app', '/SyncClipboard.json', other), OF_NAME)
      assert.equal(await hash('app', '/Sync.json'), OF_BYTES)
      const record = await phone.fetch('/api/history/query', { method: 'POST', body: 'page=1' })
      const [first] = (await record.json()) as readonly { readonly hash: string }[]
      assert.equal(first?.hash, pushed)
    }
  })

  it('answers with another entity tag for each kind of client', async (t) => {
    const { phone } = await serve(t)
    const tags = new Set<unknown>()
    for (const agent of ['app', UNICLIP, 'SyncClipboard.WinUI2.8']) {
      const { headers } = await phone.fetch('/SyncClipboard.json', {
        headers: { 'User-Agent': agent },
      })
      tags.add(headers.get('etag'))
    }
    assert.equal(tags.size, 3)
  })

  // Protocol: A Group is a File, too
  it('comes with a file instead of a group for a client that knows no groups', async (t) => {
    const { read, other, phone } = await serve(t)
    await other.pushFile('Group', 'files.zip', BYTES)
    const { type, dataName, hash } = await read(UNICLIP)
    assert.deepEqual([type, dataName, hash], ['File', 'files.zip', OF_BYTES])
    assert.equal((await read(DESKTOP))['type'], 'Group')
    const download = async (as: string, agent: string) => {
      const path = `/api/history/${as}-${OF_BYTES}/data`
      const response = await phone.fetch(path, { headers: { 'User-Agent': agent } })
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.status === 200 ? bytes.equals(BYTES) : response.status
    }
    assert.deepEqual(
      [await download('File', UNICLIP), await download('Group', UNICLIP)],
      [true, true],
    )
    assert.deepEqual(
      [await download('File', DESKTOP), await download('Group', DESKTOP)],
      [404, true],
    )
  })
})

describe('the version', () => {
  const version = async (phone: Phone, agent: string): Promise<string> => {
    const response = await phone.fetch('/api/version', { headers: { 'User-Agent': agent } })
    return response.text()
  }

  it('is our own for a client of which nothing is known', async (t) => {
    const { phone } = await serveGuarded(t)
    assert.match(await version(phone, 'app'), /^"clipgate \d+\.\d+\.\d+"$/)
  })

  // Protocol: in the dialect `syncclipboard`, `text/plain`
  it('is that of the protocol for a program of the reference project', async (t) => {
    const { phone } = await serveGuarded(t)
    assert.equal(await version(phone, DESKTOP), '3.2.0')
  })

  it('is that of the protocol for a client that has read its document', async (t) => {
    const { hash, phone } = await serve(t)
    await hash('okhttp/4.12.0')
    assert.equal(await version(phone, 'okhttp/4.12.0'), '3.2.0')
    assert.match(await version(phone, UNICLIP), /clipgate/)
  })
})
