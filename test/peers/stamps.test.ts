import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { byNight } from '../support/night.ts'
import { sha256 } from '../support/hashes.ts'
import { createPhone, readObject } from '../support/phone.ts'
import { arrives, joinWith, peerOf } from './support/daemons.ts'
import { ItemLog } from './support/item-log.ts'
import { MemberProcess } from './support/member-process.ts'
import { listen } from '../support/listen.ts'

const LAST = 100_000_000_000_000
const HIGHEST = 'm_ffffffffffffffff'

/** A chain: the one in the middle has joined both others. */
async function startChain(t: TestContext): Promise<readonly MemberProcess[]> {
  const start = (name: string) => MemberProcess.start(t, name)
  const [a, b, c] = await Promise.all([start('a'), start('b'), start('c')])
  await b.join(a)
  await b.join(c)
  return [a, b, c]
}

/** Whoever has the credentials of a member pushes a text with a stamp of their own. */
function pushStamped(to: MemberProcess, text: string, stampedAt: number): Promise<Response> {
  const document = { type: 'Text', text, stampedAt, stampedBy: HIGHEST }
  return to.phone.fetch('/Sync.json', { method: 'PUT', body: JSON.stringify(document) })
}

/** Each member is pushed to in turn; a push that did not stay would be seen before the next one. */
async function pushesWin(members: readonly MemberProcess[], round: string): Promise<void> {
  const before = members.map(({ log }) => log.ids.length)
  const pushed: string[] = []
  for (const { client, name } of [...members, ...members]) {
    const contentId = await client.pushText(`${round}, pushed to ${name} (${pushed.length})`)
    pushed.push(contentId)
    await Promise.all(members.map(({ log }) => log.has(contentId)))
  }
  for (const [index, { log, name, client }] of members.entries()) {
    assert.deepEqual(log.ids.slice(before[index]), pushed, name)
    assert.equal((await client.latest()).contentId, pushed.at(-1), name)
  }
}

/** What a group was left with by a version that believed all stamps. */
async function freeze(member: MemberProcess): Promise<void> {
  const file = join(member.daemon.folder, 'data', 'item.json')
  const kept = JSON.parse(await readFile(file, 'utf8'))
  kept.text.stamp = { at: LAST, member: HIGHEST }
  await writeFile(file, JSON.stringify(kept))
}

describe('a group', () => {
  it('takes no item with a time that no clock can have, and goes on', async (t) => {
    const members = await startChain(t)
    await pushesWin(members, 'before')
    for (const [index, member] of members.entries()) {
      const year = 366 * 86_400_000
      for (const stampedAt of [LAST, LAST - 1, Date.now() + 11 * year]) {
        const response = await pushStamped(member, 'frozen', stampedAt)
        const { code } = await readObject(response)
        assert.deepEqual([response.status, code], [400, 'STAMP_AHEAD'], member.name)
      }
      await pushesWin(members, `after hostile push ${index}`)
    }
  })

  it('has the next push of any phone, when somebody was ahead by as much as is believed', async (t) => {
    const members = await startChain(t)
    const [a] = members
    assert.ok(a !== undefined, 'it is there')
    const response = await pushStamped(a, 'nearly frozen', Date.now() + 10 * 365 * 86_400_000)
    assert.equal(response.status, 200)
    const { contentId } = await readObject(response)
    await Promise.all(members.map(({ log }) => log.has(String(contentId))))
    await pushesWin(members, 'after it')
    // Its time is kept: what is copied apart later is later also there.
    await Promise.all(members.map((member) => member.stop()))
    for (const member of members) {
      await member.start()
      await member.client.pushText(`alone, ${member.name}`)
      await member.stop()
    }
    await Promise.all(members.map((member) => member.start()))
    await Promise.all(members.map((member) => arrives(member, ({ text }) => text === 'alone, c')))
    await pushesWin(members, 'together again')
  })

  it('has the next push of any phone, when a member that is ahead copied again what all had', async (t) => {
    const [a, b, c] = await startChain(t)
    assert.ok(a && b && c, 'they are there')
    const ahead = await MemberProcess.start(t, 'ahead')
    await ahead.join(a)
    const phones = await Promise.all(
      [a, b, c].map(async ({ daemon, gateway }) => {
        const { authorization } = createPhone(await daemon.pair('Phone'), gateway)
        return ItemLog.open(t, gateway, authorization)
      }),
    )
    const first = await a.client.pushText('what all have')
    const members = [a, b, c, ahead]
    await Promise.all([...phones, ...members.map(({ log }) => log)].map((log) => log.has(first)))
    const headers = { 'X-Clipgate-Time': `${Date.now() + 86_400_000}` }
    assert.equal((await ahead.phone.fetch('/Sync.json', { headers })).status, 200)
    assert.equal(await ahead.client.pushText('what all have'), first)
    // Over links in both directions.
    const wanted = JSON.stringify(await ahead.stamp())
    while (JSON.stringify(await c.stamp()) !== wanted);
    const next = await c.client.pushText('the next one')
    await Promise.all([...phones, ...members.map(({ log }) => log)].map((log) => log.has(next)))
    // Nothing has changed for phones.
    for (const { ids } of phones) assert.deepEqual(ids, [first, next])
  })

  it('has one of two items that somehow have the same stamp, whoever has joined whom', async (t) => {
    const [earlier = '', later = ''] = ['one', 'other'].sort((a, b) =>
      sha256(a) < sha256(b) ? -1 : 1,
    )
    for (const [ofFirst, ofSecond] of [
      [earlier, later],
      [later, earlier],
    ] as const) {
      const [first, second] = await Promise.all([
        MemberProcess.start(t, 'first'),
        MemberProcess.start(t, 'second'),
      ])
      const at = Date.now()
      assert.equal((await pushStamped(first, ofFirst, at)).status, 200)
      assert.equal((await pushStamped(second, ofSecond, at)).status, 200)
      await first.join(second)
      for (const member of [first, second]) await arrives(member, ({ text }) => text === later)
      await pushesWin([first, second], 'afterwards')
      await Promise.all([first.stop(), second.stop()])
    }
  })

  it('that was frozen by an item of the year 5138 thaws by itself', async (t) => {
    const members = await startChain(t)
    const first = await members[1]?.client.pushText('frozen')
    await Promise.all(members.map(({ log }) => log.has(String(first))))
    const firsts = members.slice(0, byNight(members.length, { byDay: 1 }))
    for (const [index, member] of firsts.entries()) {
      await Promise.all(members.map((one) => one.stop()))
      await Promise.all(members.map((one) => freeze(one)))
      await Promise.all(members.map((one) => one.start()))
      const contentId = await member.client.pushText(`the first after start ${index}`)
      await Promise.all(members.map(({ log }) => log.has(contentId)))
      await pushesWin(members, `after start ${index}`)
      for (const { daemon } of members) assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
    }
  })

  it('says in `peers` that a daemon that was not updated keeps an item of the year 5138', async (t) => {
    const a = await MemberProcess.start(t, 'a')
    const old = await startFrozen(t)
    const contentId = await a.client.pushText('ours')
    await joinWith(a, formatConnectLink({ url: old.url, user: 'peer_1', pwd: 'a long password' }))
    // Each offer is answered with what is kept there; it is made again, now and then.
    let peer = await peerOf(a)
    for (; peer.error === undefined; peer = await peerOf(a)) await old.offered()
    assert.match(String(peer.error), /too far ahead/)
    assert.equal((await a.client.latest()).contentId, contentId)
    assert.deepEqual(a.log.ids, [contentId])
  })
})

/** A daemon of an earlier version, whose item won for ever. */
async function startFrozen(t: TestContext) {
  const contentId = `blake3v1:${'cd'.repeat(32)}`
  const document = {
    type: 'Text',
    text: 'frozen',
    hasData: false,
    size: 6,
    hash: 'ab'.repeat(32),
    dataName: '',
    contentId,
    stampedAt: LAST,
    stampedBy: HIGHEST,
  }
  const offers = new EventEmitter()
  const server = createServer((request, response) => {
    if (request.url === '/api/sse/clipboard') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('event: hello\ndata: {}\n\n')
    } else if (request.method === 'PUT') {
      request.resume().on('end', () => {
        response.end(JSON.stringify({ contentId }))
        offers.emit('offer')
      })
    } else response.end(JSON.stringify(document))
  })
  const port = await listen(t, server)
  return { url: `http://127.0.0.1:${port}`, offered: () => once(offers, 'offer') }
}
