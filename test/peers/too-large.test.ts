import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { MIB } from '../../src/core/limits.ts'
import { OfferPuller } from '../../src/peers/bus/offer-puller.ts'
import { pullOffer } from '../../src/peers/bus/pull-offer.ts'
import type { PeerConnection } from '../../src/peers/peer-connection.ts'
import { sha256 } from '../support/hashes.ts'
import { listen } from '../support/listen.ts'
import { Mailbox } from '../support/mailbox.ts'
import { connectTo, startMember } from './support/circle.ts'

type Document = Readonly<Record<string, unknown>>

const STAMPED_BY = 'm_00000000000000ff'

/** Later with each one. */
let stampedAt = 4_000_000_000_000

function documentOf(fields: Document): Document {
  const contentId = `blake3v1:${randomBytes(32).toString('hex')}`
  const base = { type: 'Text', text: '', hasData: false, size: 0, hash: '', dataName: '' }
  stampedAt += 1
  return { ...base, contentId, stampedAt, stampedBy: STAMPED_BY, ...fields }
}

/** In no encoding that a text has. */
const NO_TEXT = Buffer.from([0xff, 0xfe])

/** A member that keeps to no limit, and what others asked it for. */
class HostileMember {
  readonly asked: string[] = []
  readonly pushed: Mailbox<Document> = new Mailbox()
  url = ''
  #document: Document = {}
  #body: (response: ServerResponse) => void = () => undefined
  #streams = new Set<ServerResponse>()

  static async start(t: TestContext): Promise<HostileMember> {
    const member = new HostileMember()
    const server = createServer(async (request, response) => {
      const { method, url = '' } = request
      member.asked.push(`${method} ${url}`)
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      if (method === 'PUT') {
        const { contentId } = member.#document
        response.end(JSON.stringify({ contentId }))
        member.pushed.put(JSON.parse(Buffer.concat(chunks).toString()))
      } else if (url === '/api/sse/clipboard') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        member.#streams.add(response)
        response.write('event: hello\ndata: {}\n\n')
      } else if (url === '/Sync.json') member.#body(response)
      else if (url === '/file/no.txt') response.end(NO_TEXT)
      else
        response.writeHead(200, { 'Content-Type': 'text/plain' }).end(Buffer.alloc(60 * MIB, 'x'))
    })
    member.url = `http://127.0.0.1:${await listen(t, server)}`
    return member
  }

  has(document: Document, body = JSON.stringify(document)): void {
    this.#document = document
    this.#body = (response) => void response.end(body)
    for (const stream of this.#streams) stream.write('event: update\ndata: {}\n\n')
  }

  count(request: string): number {
    return this.asked.filter((each) => each === request).length
  }
}

/** A member, connected to a hostile one that has this. */
async function follow(t: TestContext, ...has: Parameters<HostileMember['has']>) {
  const [member, hostile] = [await startMember(t, 1), await HostileMember.start(t)]
  hostile.has(...has)
  const states = new Mailbox<PeerConnection['status']>()
  const onChange = (): void => states.put(link.status)
  const link: PeerConnection = connectTo(t, member, hostile, { onChange, clock: member.clock })
  /** Resolves once the link says so. */
  const says = async (fits: (status: PeerConnection['status']) => boolean): Promise<void> => {
    while (!fits(await states.next()));
  }
  return { member, hostile, says }
}

const TOO_LONG = /too long/

describe('a member whose text is longer than any may be', () => {
  it('is not believed, which the link says, and goes on with what comes next on either side', async (t) => {
    const long = documentOf({ text: 'x'.repeat(60 * MIB) })
    const { member, hostile, says } = await follow(t, long)
    await says(({ state, error }) => state === 'connected' && TOO_LONG.test(error ?? ''))
    assert.equal(member.latest.current, undefined)

    hostile.has(documentOf({ text: 'a short one' }))
    await member.has('a short one')
    await says(({ error }) => error === undefined)

    hostile.has(documentOf({ text: '中'.repeat(6 * MIB) }))
    await says(({ error }) => TOO_LONG.test(error ?? ''))
    await member.copy('what is copied here')
    // Who does not know what is there offers what it has, and the other side takes what is later.
    for (let text: unknown; text !== 'what is copied here'; )
      text = (await hostile.pushed.next())['text']
    assert.equal(member.text, 'what is copied here')
    const joined = member.logger.lines.filter(
      ({ level, fields }) => level === 'info' && fields['peer'],
    )
    assert.equal(joined.length, 1, 'it was there all the time')
    // Each was asked for once: nothing is tried again before there is something else.
    assert.deepEqual(
      [hostile.count('GET /Sync.json'), hostile.count('GET /api/sse/clipboard')],
      [3, 1],
    )
  })

  const file = { hasData: true, dataName: 'long.txt', hash: 'ab'.repeat(32) }

  it('fills no log when it comes and goes, which tells how often that was left out', async (t) => {
    const bad = (): Document => documentOf({ ...file, size: 60 * MIB })
    const { member, hostile, says } = await follow(t, bad())
    const isBad = ({ error }: PeerConnection['status']) => /16777216 bytes/.test(error ?? '')
    await says(isBad)
    for (let index = 0; index < 10; index += 1) {
      hostile.has(documentOf({ text: `well ${index}` }))
      await says(({ error }) => error === undefined)
      hostile.has(bad())
      await says(isBad)
    }
    const warnings = () => member.logger.lines.filter(({ level }) => level === 'warn')
    assert.equal(warnings().length, 1)
    member.clock.advance(600_000)
    hostile.has(documentOf({ text: 'well again' }))
    await says(({ error }) => error === undefined)
    hostile.has(bad())
    await says(isBad)
    assert.deepEqual(
      warnings().map(({ fields }) => fields['leftOut']),
      [undefined, 10],
    )
  })

  it('is not even asked for the bytes of it', async (t) => {
    const { member, hostile, says } = await follow(t, documentOf({ ...file, size: 60 * MIB }))
    await says(({ error }) => /16777216 bytes/.test(error ?? ''))
    assert.equal(hostile.count('GET /file/long.txt'), 0)
    hostile.has(documentOf({ text: 'later' }))
    await member.has('later')
  })

  it('gets no more taken than that when it lies about the size', async (t) => {
    const { member, hostile, says } = await follow(t, documentOf({ ...file, size: 5 }))
    await says(({ error }) => /16777216 bytes/.test(error ?? ''))
    hostile.has(documentOf({ text: 'later' }))
    await member.has('later')
    assert.equal(hostile.count('GET /file/long.txt'), 1)
  })

  it('gets no more of a file taken than it has announced, or the longest text has', async (t) => {
    const { says } = await follow(t, documentOf({ ...file, type: 'File', size: 5 }))
    await says(({ error }) => /too many bytes/.test(error ?? ''))
  })

  it('is asked for bytes once that are no text', async (t) => {
    const { length } = NO_TEXT
    const no = { ...file, dataName: 'no.txt', hash: sha256(NO_TEXT), size: length }
    const { member, hostile, says } = await follow(t, documentOf(no))
    await says(({ error }) => /UTF-8/.test(error ?? ''))
    member.clock.advance(60_000)
    hostile.has(documentOf({ text: 'later' }))
    await member.has('later')
    assert.equal(hostile.count('GET /file/no.txt'), 1)
  })

  it('hands no long text in as the name of a file', async (t) => {
    const long = { type: 'File', dataName: 'a', hasData: true, text: 'x'.repeat(17 * MIB) }
    const { member, says } = await follow(t, documentOf(long))
    await says(({ error }) => TOO_LONG.test(error ?? ''))
    assert.equal(member.latest.current, undefined)
  })

  it('sends no document that takes a gigabyte once it is parsed', async (t) => {
    const { says } = await follow(t, {}, `[${'{},'.repeat(5_000_000)}{}]`)
    await says(({ error }) => /values/.test(error ?? ''))
  })
})

describe('an announced item that is too large', () => {
  it('is said so, and not asked for again, unlike a later one', async (t) => {
    const [member, hostile] = [await startMember(t, 1), await HostileMember.start(t)]
    const errors = new Mailbox<string | undefined>()
    let asks = 0
    const puller = new OfferPuller({
      pull: (offer, options) =>
        pullOffer(offer, {
          ...member,
          ...options,
          clock: systemClock,
          secrets: { username: 'group_0123456789abcdef', password: 'a password of the group' },
          circleTime: { now: () => 0, learn: () => undefined, believes: () => true },
          maxFileBytes: 1024 * MIB,
          ownUrl: () => member.url,
        }),
      place: () => {
        const stamp = member.latest.current?.item.stamp
        return stamp && { stamp }
      },
      onFailure: () => (asks += 1),
      onTrouble: () => undefined,
      onError: (error) => errors.put(error),
    })
    t.after(() => puller.close())
    const announce = (document: Document): void => {
      const stamp = { at: Number(document['stampedAt']), member: STAMPED_BY }
      const contentId = String(document['contentId']) as `blake3v1:${string}`
      puller.offer({ stamp, contentId }, hostile.url)
    }
    const long = documentOf({ text: 'x'.repeat(20 * MIB) })
    hostile.has(long)
    announce(long)
    assert.match((await errors.next()) ?? '', TOO_LONG)
    announce(long)
    const short = documentOf({ text: 'a short one' })
    hostile.has(short)
    announce(short)
    await member.has('a short one')
    assert.equal(await errors.next(), undefined)
    assert.deepEqual([hostile.count('GET /Sync.json'), asks], [2, 0])
  })
})
