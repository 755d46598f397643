import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MIB } from '../../src/core/limits.ts'
import { only } from '../../src/lib/read-bytes.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { PeerConnections } from '../../src/peers/peer-connections.ts'
import { defer } from '../support/defer.ts'
import { sha256 } from '../support/hashes.ts'
import { connectTo, startMember } from './support/circle.ts'
import { MemoryPeerStore } from '../support/memory-peer-store.ts'
import { startProxy } from './support/counting-proxy.ts'
import { TALK_BYTES } from './support/topology.ts'
import { listen } from '../support/listen.ts'
import { Mailbox } from '../support/mailbox.ts'

const DOCUMENT = {
  type: 'File',
  text: 'a.bin',
  hasData: true,
  size: 100,
  hash: 'ab'.repeat(32),
  dataName: 'a.bin',
  contentId: `blake3v1:${'cd'.repeat(32)}`,
  stampedAt: 4_000_000_000_000,
  stampedBy: 'm_00000000000000ff',
}

/** A daemon that never ends its file, and one that joins it and is slow to clean up behind it. */
async function startSlowPair(t: TestContext) {
  const [asked, hungUp] = [defer<void>(), defer<void>()]
  const seen = { streams: 0 }
  const server = createServer((request, response) => {
    if (request.url === '/Sync.json') response.end(JSON.stringify(DOCUMENT))
    else if (request.url === '/api/sse/clipboard') {
      seen.streams += 1
      response
        .writeHead(200, { 'Content-Type': 'text/event-stream' })
        .write('event: hello\ndata: {}\n\n')
    } else {
      response.on('close', () => hungUp.resolve())
      response.writeHead(200, { 'Content-Length': 100 }).write('half of it')
      asked.resolve()
    }
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const member = await startMember(t, 1)
  const [begun, aborted, cleanedUp] = [defer<void>(), defer<void>(), defer<void>()]
  const blobs = {
    receive: async (...args: Parameters<typeof member.blobs.receive>) => {
      begun.resolve()
      try {
        return await member.blobs.receive(...args)
      } finally {
        aborted.resolve()
        await cleanedUp.promise
      }
    },
  }
  const [pulls, ended] = [
    [asked, begun],
    [aborted, hungUp],
  ].map((all) => Promise.all(all.map(({ promise }) => promise)))
  return { url, member, blobs, seen, pulls, ended, cleanedUp }
}

const NO_ITEM = { type: 'Text', text: '', hasData: false, size: 0, hash: '', dataName: '' }

const FILM_BYTES = randomBytes(MIB)

const FILM_STAMP = { at: 1, member: 'm_00000000000000ff' }

/** The film as a document of another daemon that has it. */
const FILM = {
  type: 'File',
  text: 'film.mp4',
  dataName: 'film.mp4',
  hasData: true,
  size: MIB,
  hash: sha256(FILM_BYTES),
  contentId: DOCUMENT.contentId,
  stampedAt: FILM_STAMP.at,
  stampedBy: FILM_STAMP.member,
} as const

/** Has a member get the film from somewhere. */
async function getFilm(member: Awaited<ReturnType<typeof startMember>>): Promise<void> {
  const blob = await member.blobs.receive(only(FILM_BYTES), { maxBytes: MIB })
  const bytes = { kind: 'received', blob, mediaType: 'video/mp4' } as const
  const origin = { kind: 'peer', stamp: FILM_STAMP, deviceId: undefined } as const
  const { type, text, dataName } = FILM
  await member.inbound.apply({ origin, type, text, dataName, hash: '', bytes })
}

/** A daemon where no file comes through, in neither direction. */
class StuckMember {
  readonly pushed: Mailbox<Readonly<Record<string, unknown>>> = new Mailbox()
  readonly #stuck = defer<void>()
  readonly #givenUp = defer<void>()
  readonly #streams = new Set<ServerResponse>()
  url = ''
  #document: object = {}

  static async start(t: TestContext, document: object): Promise<StuckMember> {
    const member = new StuckMember()
    member.#document = document
    const server = createServer((request, response) => void member.#answer(request, response))
    member.url = `http://127.0.0.1:${await listen(t, server)}`
    return member
  }

  /** Resolves once a file is on its way. */
  get stuck(): Promise<void> {
    return this.#stuck.promise
  }

  /** Resolves once a file that was on its way is no more. */
  get givenUp(): Promise<void> {
    return this.#givenUp.promise
  }

  has(document: object): void {
    this.#document = document
    for (const stream of this.#streams) stream.write('event: update\ndata: {}\n\n')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request
    if (url === '/api/sse/clipboard') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('event: hello\ndata: {}\n\n')
      this.#streams.add(response)
    } else if (url.startsWith('/file/')) {
      request.resume()
      response.on('close', () => this.#givenUp.resolve())
      if (method === 'GET') response.writeHead(200, { 'Content-Length': 100 }).write('half of it')
      this.#stuck.resolve()
    } else if (method === 'GET') response.end(JSON.stringify(this.#document))
    else {
      const document = JSON.parse(await text(request))
      if (document.hasData) {
        response.writeHead(404, { 'Content-Type': 'application/json' })
        return void response.end(JSON.stringify({ code: 'NOTHING_STAGED' }))
      }
      response.end(JSON.stringify({ contentId: DOCUMENT.contentId }))
      this.pushed.put(document)
    }
  }
}

describe('a link', () => {
  it('leaves one name of a file that has two with one stamp, and moves no bytes for it', async (t) => {
    const bytes = randomBytes(MIB)
    const names = ['a.txt', 'b.txt'].sort((a, b) =>
      sha256(`File|${a}`) < sha256(`File|${b}`) ? -1 : 1,
    )
    const stamp = { at: 1, member: 'm_00000000000000ff' }
    const origin = { kind: 'peer', stamp, deviceId: undefined } as const
    for (const [ofFirst = '', ofSecond = ''] of [names, names.toReversed()]) {
      const [first, second] = [await startMember(t, 1), await startMember(t, 2)]
      for (const [member, dataName] of [
        [first, ofFirst],
        [second, ofSecond],
      ] as const) {
        const blob = await member.blobs.receive(only(bytes), { maxBytes: MIB })
        const received = { kind: 'received', blob, mediaType: 'text/plain' } as const
        const item = { origin, type: 'File', text: dataName, dataName, hash: '' } as const
        await member.inbound.apply({ ...item, bytes: received })
      }
      await second.devices.add({ kind: 'peer', username: 'peer_1', password: 'password' })
      const wire = await startProxy(t, second.url)
      connectTo(t, first, wire)
      await Promise.all([first, second].map((member) => member.has(names[1] ?? '')))
      await first.copy('afterwards')
      await Promise.all([first, second].map((member) => member.has('afterwards')))
      assert.ok(wire.bytes < TALK_BYTES, `${wire.bytes} bytes`)
    }
  })

  it('brings what was copied later there, while a film comes from there', async (t) => {
    const other = await StuckMember.start(t, { ...DOCUMENT, stampedAt: 1 })
    const member = await startMember(t, 1)
    connectTo(t, member, other)
    await other.stuck
    await member.copy('later')
    assert.equal((await other.pushed.next())['text'], 'later')
  })

  it('gets what was copied later there, while a film goes there', async (t) => {
    const other = await StuckMember.start(t, NO_ITEM)
    const member = await startMember(t, 1)
    await getFilm(member)
    connectTo(t, member, other)
    await other.stuck
    other.has({ ...DOCUMENT, type: 'Text', text: 'later', hasData: false, dataName: '' })
    await member.has('later')
  })

  it('gives up a film that both sides have by now, from elsewhere', async (t) => {
    for (const isHere of [true, false]) {
      const other = await StuckMember.start(t, isHere ? NO_ITEM : FILM)
      const member = await startMember(t, 1)
      if (isHere) await getFilm(member)
      connectTo(t, member, other)
      await other.stuck
      if (isHere) other.has(FILM)
      else await getFilm(member)
      await other.givenUp
    }
  })

  it('that is closed has ended what it received, and kept none of it', async (t) => {
    const { url, member, blobs, pulls, ended, cleanedUp } = await startSlowPair(t)
    const link = connectTo(t, member, { url }, { blobs })
    await pulls
    let isClosed = false
    const closing = link.close().then(() => (isClosed = true))
    // The other side hears of the end: whatever else there is to be waited for is over by then.
    await ended
    assert.equal(isClosed, false, 'the blob is still being cleaned up')
    cleanedUp.resolve()
    await closing
    assert.equal(member.latest.current, undefined)
  })

  it('is not made again to a daemon that was left meanwhile, nor once all are closed', async (t) => {
    const { url, member, blobs, seen, pulls, cleanedUp } = await startSlowPair(t)
    const store = new MemoryPeerStore()
    const { id: memberId } = member
    const joined = new PeerConnections({
      ...{ ...member, blobs, memberId, store, maxFileBytes: MIB, clock: systemClock },
    })
    t.after(() => joined.close())
    const link = formatConnectLink({ url, user: 'peer_1', pwd: 'password' })
    const join = () => joined.join({ link, name: 'other', tlsFingerprint: undefined })
    await join()
    await pulls
    const [first] = store.peers
    const again = join()
    while (store.peers[0] === first) await setImmediate()
    await joined.leave('other')
    cleanedUp.resolve()
    assert.equal((await again).state, 'stopped')
    await joined.close()
    await assert.rejects(join(), { code: 'PEER_REFUSED' })
    for (let request = 0; request < 10; request += 1) await (await fetch(`${url}/Sync.json`)).text()
    assert.equal(seen.streams, 1)
  })
  it('is not made to a daemon that answers once all are closed, and that is not kept', async (t) => {
    const asked = defer<() => void>()
    const server = createServer((_, response) =>
      asked.resolve(() => response.end(JSON.stringify(DOCUMENT))),
    )
    const url = `http://127.0.0.1:${await listen(t, server)}`
    const member = await startMember(t, 1)
    const store = new MemoryPeerStore()
    const { id: memberId } = member
    const more = { memberId, store, maxFileBytes: MIB, clock: systemClock }
    const joined = new PeerConnections({ ...member, ...more })
    const link = formatConnectLink({ url, user: 'peer_1', pwd: 'password' })
    const joining = joined.join({ link, name: 'other', tlsFingerprint: undefined })
    const answer = await asked.promise
    const refused = assert.rejects(joining, { code: 'PEER_REFUSED' })
    await joined.close()
    answer()
    await refused
    assert.deepEqual(store.peers, [])
  })
})
