import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { systemClock } from '../../../src/lib/clock.ts'
import { Offer, pullOffer } from '../../../src/peers/bus/pull-offer.ts'
import { startMember, type TestMember } from '../support/circle.ts'
import { sha256 } from '../../support/hashes.ts'
import { listen } from '../../support/listen.ts'

const SECRETS = { username: 'group_0123456789abcdef', password: 'a password of the group' }

const STAMP = { at: 1, member: 'm_0000000000000001' }

function offerOf(...urls: readonly string[]): Offer {
  const offer = new Offer({ stamp: STAMP, contentId: `blake3v1:${'00'.repeat(32)}` })
  for (const url of urls) offer.add(url)
  return offer
}

function pull(into: TestMember, offer: Offer, ownUrl: string = into.url): Promise<void> {
  return pullOffer(offer, {
    ...into,
    clock: systemClock,
    secrets: SECRETS,
    circleTime: { now: () => 0, learn: () => undefined, believes: () => true },
    maxFileBytes: 1000,
    signal: new AbortController().signal,
    ownUrl: () => ownUrl,
    onPlace: () => undefined,
    onTrouble: () => undefined,
  })
}

/** A program that is no member, and what it was asked. */
async function startStranger(
  t: TestContext,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
) {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization)
    response.writeHead(status, headers).end('{}')
  })
  const port = await listen(t, server)
  return { url: `http://127.0.0.1:${port}`, port, asked }
}

describe('an item that was announced', () => {
  it('is got from the first member that has it, with the credential of the group', async (t) => {
    const [into, from] = [await startMember(t, 1), await startMember(t, 2)]
    const behind = await startMember(t, 3)
    for (const { devices } of [from, behind]) await devices.add({ kind: 'peer', ...SECRETS })
    await from.copy('here it is')
    const gone = await startStranger(t, {}, 404)
    await pull(into, offerOf(gone.url, behind.url, from.url))
    assert.equal(into.text, 'here it is')
    assert.equal(gone.asked.length, 1)
    // It is there now, and nobody has something later.
    await assert.rejects(pull(into, offerOf(from.url)), /does not have the item any more/)
  })

  it('is got when it has the stamp of what is here, if its hash says that it is later', async (t) => {
    const [earlier = '', later = ''] = ['one', 'other'].sort((a, b) =>
      sha256(a) < sha256(b) ? -1 : 1,
    )
    const [a, b] = [await startMember(t, 1), await startMember(t, 2)]
    const origin = { kind: 'peer', stamp: STAMP, deviceId: undefined } as const
    const item = { origin, type: 'Text', dataName: '', hash: '', bytes: { kind: 'none' } } as const
    await a.inbound.apply({ ...item, text: earlier })
    await b.inbound.apply({ ...item, text: later })
    for (const { devices } of [a, b]) await devices.add({ kind: 'peer', ...SECRETS })
    await assert.rejects(pull(b, offerOf(a.url)), /does not have the item any more/)
    await pull(a, offerOf(b.url))
    assert.deepEqual([a.text, b.text], [later, later])
  })

  it('fails as the last one does that was asked', async (t) => {
    const [into, other] = [await startMember(t, 1), await startMember(t, 2)]
    await other.copy('x')
    await assert.rejects(pull(into, offerOf(other.url)), /does not accept/)
    await assert.rejects(pull(into, offerOf()), /Nobody has/)
  })

  it('is not got by way of a redirection, which would take the password along', async (t) => {
    const into = await startMember(t, 1)
    const target = await startStranger(t)
    const source = await startStranger(t, { Location: `${target.url}/Sync.json` }, 302)
    await assert.rejects(pull(into, offerOf(source.url)))
    assert.deepEqual([source.asked.length, target.asked.length], [1, 0])
  })

  it('is not asked of a program on this machine, unless members are on it as well', async (t) => {
    const into = await startMember(t, 1)
    const { port, url, asked } = await startStranger(t)
    const names = ['localhost', 'LOCALHOST.', 'a.localhost']
    const four = [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '127.255.255.254',
      '0.0.0.0',
      '0',
    ]
    const six = ['[::1]', '[::ffff:127.0.0.1]', '[::]', '[::ffff:0.0.0.0]']
    for (const host of [...names, ...four, ...six]) {
      const { href } = new URL(`http://${host}:${port}`)
      await assert.rejects(pull(into, offerOf(href), 'http://10.0.0.1:42720'), /loopback/, host)
    }
    assert.deepEqual(asked, [])
    await assert.rejects(pull(into, offerOf(url)), /cannot be understood/)
    assert.equal(asked.length, 1)
  })
})

describe('an offer', () => {
  it('knows four sources, each once, and goes round them', () => {
    const offer = offerOf('a', 'b', 'a', 'c', 'd', 'e')
    assert.deepEqual(offer.sources, ['a', 'b', 'c', 'd'])
    assert.equal(offer.next(), 'a')
    for (const url of ['b', 'c', 'd', 'a', 'b']) assert.equal(offer.rotate(), url)
    for (const url of ['b', 'c', 'd', undefined]) assert.equal(offer.next(), url)
  })
})
