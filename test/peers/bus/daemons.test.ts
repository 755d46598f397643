import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { LatestDocument } from '../../../src/client/latest.ts'
import { MIB } from '../../../src/core/limits.ts'
import { needs } from '../../support/requirements.ts'
import { startProxy } from '../support/counting-proxy.ts'
import { arrives, isText, type MemberDaemon } from '../support/daemons.ts'
import { busOf, logItems, logs, newKey, startBusDaemon, startOnBus } from './support/bus-daemons.ts'
import { startBroker } from './support/nats-broker.ts'
import { sha256 } from '../../support/hashes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const arrivesAt = (members: readonly MemberDaemon[], text: string) =>
  Promise.all(members.map((member) => arrives(member, isText(text))))

async function startThree(t: TestContext, url: string) {
  const key = newKey()
  const a = await startOnBus(t, { key, url })
  const [b, c] = [await startOnBus(t, { key, url }), await startOnBus(t, { key, url })]
  return { key, a, b, c, all: [a, b, c] }
}

describe('daemons on a bus', needs('nats-server'), () => {
  it('share texts and files, each once, and nobody hears of it twice', async (t) => {
    const broker = await startBroker(t)
    const { a, b, c, all } = await startThree(t, broker.url)
    const seen = await Promise.all(all.map((member) => logItems(t, member)))
    const order: string[] = []
    const isShared = async (from: MemberDaemon, fits: (document: LatestDocument) => boolean) => {
      const contentId = String((await arrives(from, fits)).contentId)
      order.push(contentId)
      await Promise.all(seen.map((log) => log.has(contentId)))
    }
    await a.phone.pushText('from a')
    await isShared(a, isText('from a'))
    const bytes = randomBytes(5 * MIB)
    await b.phone.pushFile('File', 'photo of us.bin', bytes)
    await isShared(b, ({ type }) => type === 'File')
    for (const member of all) {
      const { dataName } = await arrives(member, ({ type }) => type === 'File')
      assert.equal(dataName, 'photo of us.bin')
      assert.equal(sha256(await member.phone.download()), sha256(bytes))
    }
    const long = 'a line that is one of many\n'.repeat(200_000)
    await c.phone.pushText(long)
    await isShared(c, isText(long))
    await arrivesAt(all, long)
    await a.phone.pushText('the last')
    await isShared(a, isText('the last'))
    for (const { ids } of seen) assert.deepEqual(ids, order)
    const { state, error, members, refused } = await busOf(a)
    assert.deepEqual([state, error, members, refused], ['connected', undefined, 2, 0])
    const { stdout } = await a.daemon.run('status')
    const line =
      /^Bus {8}nats:\/\/127\.0\.0\.1:\d+, connected; group [0-9a-f]{16}, 2 other members$/m
    assert.match(stdout, line)
    for (const { daemon } of all) assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
  })

  it('are told apart when one was started with the data directory of another', async (t) => {
    const broker = await startBroker(t)
    const { url } = broker
    const { key, a, b } = await startThree(t, url)
    const folder = await temporaryFolder(t)
    const record = 'data/group.json'
    await mkdir(join(folder, 'data'), { mode: 0o700 })
    const before = await readFile(join(a.daemon.folder, record), 'utf8')
    await writeFile(join(folder, record), before, { mode: 0o600 })
    const copied = await startOnBus(t, { key, url, folder })
    for (const from of [copied, a, b]) {
      const text = `from ${from.daemon.ready.gateway}`
      await from.phone.pushText(text)
      await arrivesAt([a, b, copied], text)
    }
    assert.match(a.daemon.stderr() + copied.daemon.stderr(), / warn {2}Another daemon speaks/)
    const member = async ({ daemon }: MemberDaemon): Promise<string> =>
      JSON.parse(await readFile(join(daemon.folder, record), 'utf8')).member
    assert.notEqual(await member(a), await member(copied))
    assert.equal((await busOf(a)).error, undefined)
  })

  it('go on without the broker, and make up for it when that is back', async (t) => {
    const broker = await startBroker(t)
    const { a, b, c, all } = await startThree(t, broker.url)
    await a.phone.pushText('before')
    await arrivesAt(all, 'before')
    await broker.kill()
    await Promise.all(all.map((member) => logs(member, /Cannot use the bus/)))
    const { state, error } = await busOf(b)
    assert.equal(state, 'waiting')
    assert.ok(typeof error === 'string' && error !== '', 'it says why')
    await a.phone.pushText('meanwhile 1')
    await b.phone.pushText('meanwhile 2')
    assert.equal((await a.phone.document())['text'], 'meanwhile 1')
    await broker.restart()
    await arrivesAt([a, b, c], 'meanwhile 2')
    await c.phone.pushText('after')
    await arrivesAt(all, 'after')
    assert.equal((await busOf(b)).error, undefined)
  })

  it('are in step again after one of them was cut off', async (t) => {
    const broker = await startBroker(t)
    const cable = await startProxy(t, broker.url)
    const [key, url] = [newKey(), broker.url]
    const [a, b] = [await startOnBus(t, { key, url }), await startOnBus(t, { key, url })]
    const c = await startOnBus(t, { key, url: cable.url.replace('http:', 'nats:') })
    cable.cut()
    await logs(c, /Cannot use the bus/)
    await c.phone.pushText('apart, older')
    await a.phone.pushText('together')
    await arrivesAt([a, b], 'together')
    assert.equal((await c.phone.document())['text'], 'apart, older')
    cable.mend()
    await arrivesAt([a, b, c], 'together')

    cable.cut()
    await logs(c, /Cannot use the bus/, 2)
    await b.phone.pushText('together, older')
    await c.phone.pushText('apart')
    cable.mend()
    await arrivesAt([a, b, c], 'apart')
  })

  it('serve without a broker from the start, stop at once, and find it once it is there', async (t) => {
    const broker = await startBroker(t)
    const { port } = broker
    await broker.kill()
    const [key, url] = [newKey(), broker.url]
    const [a, b] = [await startBusDaemon(t, { key, url }), await startBusDaemon(t, { key, url })]
    await a.phone.pushText('alone')
    assert.equal((await a.phone.document())['text'], 'alone')
    await logs(a, /Cannot use the bus.*refused/)
    assert.equal((await busOf(a)).state, 'waiting')
    await startBroker(t, { port })
    await arrives(b, isText('alone'))
    assert.deepEqual([await a.daemon.stop(), await b.daemon.stop()], [0, 0])
  })

  it('stop at once also while the broker is there and answers nobody', async (t) => {
    const broker = await startBroker(t)
    const [key, url] = [newKey(), broker.url]
    const a = await startOnBus(t, { key, url })
    broker.freeze()
    const b = await startBusDaemon(t, { key, url })
    await b.phone.pushText('served')
    assert.equal((await b.phone.document())['text'], 'served')
    assert.deepEqual([await a.daemon.stop(), await b.daemon.stop()], [0, 0])
  })

  it('with another key neither read each other nor hear of each other', async (t) => {
    const { url } = await startBroker(t)
    const a = await startOnBus(t, { key: newKey(), url })
    const b = await startOnBus(t, { key: newKey(), url })
    await a.phone.pushText('of a')
    await b.phone.pushText('of b')
    const [ofA, ofB] = [await busOf(a), await busOf(b)]
    assert.deepEqual([ofA.state, ofA.members, ofB.members], ['connected', 0, 0])
    assert.notEqual(ofA.group, ofB.group)
    assert.match((await a.daemon.run('status')).stdout, /nobody else heard of/)
    assert.equal((await a.phone.document())['text'], 'of a')
    assert.equal((await b.phone.document())['text'], 'of b')
  })
})
