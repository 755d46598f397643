import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it, type TestContext } from 'node:test'
import { KIB, MIB } from '../../src/core/limits.ts'
import { buildProgram, type BuiltProgram } from '../faults/support/built-program.ts'
import { startProxy, type CountingProxy } from './support/counting-proxy.ts'
import { MemberProcess } from './support/member-process.ts'

let program: BuiltProgram

before(async () => {
  program = await buildProgram()
})

after(() => program.remove())

/** Documents and events of a link, beside the bytes of an item. */
const TALK_BYTES: number = 200 * KIB

/** Who joins whom, by index. */
const TOPOLOGIES = {
  'a chain of three, joined from its middle': [
    [1, 0],
    [1, 2],
  ],
  'a ring of three': [
    [0, 1],
    [1, 2],
    [2, 0],
  ],
  'two that joined each other': [
    [0, 1],
    [1, 0],
  ],
} as const

interface Group {
  readonly members: readonly MemberProcess[]
  readonly links: readonly CountingProxy[]
}

async function startGroup(
  t: TestContext,
  pairs: readonly (readonly [number, number])[],
): Promise<Group> {
  const names = Array.from(
    { length: 1 + Math.max(...pairs.flat()) },
    (_, index) => `member ${index}`,
  )
  const { main } = program
  const members = await Promise.all(names.map((name) => MemberProcess.start(t, name, { main })))
  const links: CountingProxy[] = []
  // One after the other: a member keeps one link at a time.
  for (const [from, to] of pairs) {
    const [a, b] = [members[from], members[to]]
    assert.ok(a !== undefined && b !== undefined, 'both are there')
    const proxy = await startProxy(t, b.gateway)
    await a.join(b, { url: proxy.url })
    links.push(proxy)
  }
  return { members, links }
}

/** A device uploads the bytes, and calls them so. @returns What is current then. */
async function push(
  member: MemberProcess,
  {
    type,
    dataName,
    mediaType,
    bytes,
  }: { type: string; dataName: string; mediaType: string; bytes: Buffer },
): Promise<string> {
  await member.client.upload(new Blob([bytes]), { dataName, mediaType })
  const document = { type, text: `what a phone calls ${dataName}`, dataName, hasData: true }
  const response = await member.phone.fetch('/Sync.json', {
    method: 'PUT',
    body: JSON.stringify(document),
  })
  assert.equal(response.status, 200)
  return JSON.parse(await response.text()).contentId
}

describe('the same bytes under another name, type or media type', () => {
  for (const [name, pairs] of Object.entries(TOPOLOGIES)) {
    it(`are called the same by all members, told to each once, and never sent again: ${name}`, async (t) => {
      const { members, links } = await startGroup(t, pairs)
      const bytes = randomBytes(MIB)
      const octets = 'application/octet-stream'
      const names = [
        { type: 'File', dataName: 'first.bin', mediaType: octets },
        { type: 'File', dataName: 'second.bin', mediaType: octets },
        { type: 'File', dataName: 'second.bin', mediaType: 'text/csv' },
        { type: 'Group', dataName: 'third.zip', mediaType: 'application/zip' },
        { type: 'Image', dataName: 'fourth.png', mediaType: 'image/png' },
        { type: 'File', dataName: 'first.bin', mediaType: octets },
      ]
      const pushed: string[] = []
      const marked = async (text: string): Promise<void> => {
        const contentId = await members[0]?.client.pushText(text)
        pushed.push(String(contentId))
        await Promise.all(members.map(({ log }) => log.has(String(contentId))))
      }
      for (const [index, call] of names.entries()) {
        const by = members[index % members.length]
        assert.ok(by !== undefined, 'there is one')
        const before = links.map((link) => link.bytes)
        pushed.push(await push(by, { ...call, bytes }))
        const times = pushed.filter((id) => id === pushed.at(-1)).length
        await Promise.all(members.map(({ log }) => log.has(String(pushed.at(-1)), times)))

        const { etag: _, ...document } = await by.client.latest()
        assert.deepEqual([document.type, document.dataName], [call.type, call.dataName])
        for (const member of members) {
          const { etag: __, ...there } = await member.client.latest()
          assert.deepEqual(there, document, member.name)
          const file = await member.phone.fetch(`/file/${call.dataName}`)
          assert.equal(file.headers.get('content-type'), call.mediaType, member.name)
          const digest = createHash('sha256')
            .update(Buffer.from(await file.arrayBuffer()))
            .digest('hex')
          assert.equal(digest, document.hash, member.name)
        }
        if (index === 0) await marked('the bytes have gone over each link that they go over')
        else {
          for (const [at, link] of links.entries()) {
            const moved = link.bytes - (before[at] ?? 0)
            assert.ok(moved < TALK_BYTES, `${call.dataName}: ${moved} bytes over link ${at}`)
          }
        }
      }
      // An echo of anything would have come before these have been everywhere.
      await marked('at last')
      for (const { log, name: who } of members) assert.deepEqual(log.ids, pushed, who)
      for (const { daemon } of members) assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
    })
  }
})
