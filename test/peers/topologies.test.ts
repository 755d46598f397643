import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { sha256 } from '../support/hashes.ts'
import { onlyAtNight } from '../support/night.ts'
import type { MemberProcess } from './support/member-process.ts'
import { makePng, startTopology, TALK_BYTES, type Pairs } from './support/topology.ts'

/** Who joins whom, by index. */
const TOPOLOGIES: Readonly<Record<string, Pairs>> = {
  'a ring of four': [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
  ],
  'a full mesh of four': [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ],
}

const RENAMED_IN: Readonly<Record<string, Pairs>> = {
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
}

/** With the most links, and where an item comes to its own member again; the others at night. */
const BY_DAY: readonly string[] = ['a full mesh of four', 'a ring of three']

const turnOf = (name: string) => (BY_DAY.includes(name) ? {} : onlyAtNight())

/** The members in turn. */
function memberAt(members: readonly MemberProcess[], index: number): MemberProcess {
  const member = members[index % members.length]
  assert.ok(member !== undefined, 'there is one')
  return member
}

describe('daemons in processes of their own', () => {
  for (const [name, pairs] of Object.entries(TOPOLOGIES)) {
    it(`have each text, image and file once, in ${name}`, turnOf(name), async (t) => {
      const { members, links } = await startTopology(t, pairs)
      const everybody = (contentId: string): Promise<unknown> =>
        Promise.all(members.map(({ log }) => log.has(contentId)))
      const pushed: string[] = []
      const push = async (contentId: Promise<string>): Promise<void> => {
        pushed.push(await contentId)
        await everybody(pushed.at(-1) ?? '')
      }
      const by = (index: number) => memberAt(members, index)

      await push(by(0).client.pushText('a text: äöü 🙂'))
      const blobs = [
        ['Image', 'a picture.png', 'image/png', makePng(700, 500)],
        ['File', 'a file é.bin', '', randomBytes(5 * MIB)],
      ] as const
      for (const [index, [type, dataName, mediaType, bytes]] of blobs.entries()) {
        const before = links.map((link) => link.bytes)
        const blob = new Blob([bytes])
        await push(by(index + 1).client.pushFile(blob, { dataName, mediaType }))
        for (const { phone, name } of members) {
          const document = await phone.document()
          assert.deepEqual([document['type'], document['dataName']], [type, dataName], name)
          assert.equal(sha256(await phone.download()), sha256(bytes), name)
        }
        // The last ones may still be on their way: a marker comes after them.
        await push(by(index).client.pushText(`after ${dataName}`))
        for (const [at, link] of links.entries()) {
          const moved = link.bytes - (before[at] ?? 0)
          assert.ok(moved <= bytes.length + TALK_BYTES, `${moved} bytes over link ${at}`)
        }
      }
      // An echo of anything would have come before these have been everywhere.
      for (const { client, name } of members) await push(client.pushText(`at last ${name}`))

      const stamps = await Promise.all(members.map((member) => member.stamp()))
      for (const [index, { log, name, daemon }] of members.entries()) {
        assert.deepEqual(log.ids, pushed, name)
        assert.deepEqual(stamps[index], stamps[0], name)
        assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
      }
    })
  }
})

type Called = readonly [type: string, dataName: string, mediaType: string]

/** A device uploads the bytes, and calls them so. @returns What is current then. */
async function push(
  member: MemberProcess,
  [type, dataName, mediaType]: Called,
  bytes: Buffer,
): Promise<string> {
  await member.client.upload(new Blob([bytes]), { dataName, mediaType })
  const document = { type, text: `what a phone calls ${dataName}`, dataName, hasData: true }
  const body = JSON.stringify(document)
  const response = await member.phone.fetch('/Sync.json', { method: 'PUT', body })
  assert.equal(response.status, 200)
  return JSON.parse(await response.text()).contentId
}

describe('the same bytes under another name, type or media type', () => {
  for (const [name, pairs] of Object.entries(RENAMED_IN)) {
    it(
      `are called the same by all members, told to each once, and never sent again: ${name}`,
      turnOf(name),
      async (t) => {
        const { members, links } = await startTopology(t, pairs)
        const bytes = randomBytes(MIB)
        const octets = 'application/octet-stream'
        const names: readonly Called[] = [
          ['File', 'first.bin', octets],
          ['File', 'second.bin', octets],
          ['File', 'second.bin', 'text/csv'],
          ['Group', 'third.zip', 'application/zip'],
          ['Image', 'fourth.png', 'image/png'],
          ['File', 'first.bin', octets],
        ]
        const pushed: string[] = []
        const marked = async (text: string): Promise<void> => {
          const contentId = await members[0]?.client.pushText(text)
          pushed.push(String(contentId))
          await Promise.all(members.map(({ log }) => log.has(String(contentId))))
        }
        for (const [index, call] of names.entries()) {
          const [type, dataName, mediaType] = call
          const by = memberAt(members, index)
          const before = links.map((link) => link.bytes)
          pushed.push(await push(by, call, bytes))
          const times = pushed.filter((id) => id === pushed.at(-1)).length
          await Promise.all(members.map(({ log }) => log.has(String(pushed.at(-1)), times)))

          const { etag: _, ...document } = await by.client.latest()
          assert.deepEqual([document.type, document.dataName], [type, dataName])
          for (const member of members) {
            const { etag: __, ...there } = await member.client.latest()
            assert.deepEqual(there, document, member.name)
            const file = await member.phone.fetch(`/file/${dataName}`)
            assert.equal(file.headers.get('content-type'), mediaType, member.name)
            assert.equal(sha256(Buffer.from(await file.arrayBuffer())), document.hash, member.name)
          }
          if (index === 0) await marked('the bytes have gone over each link that they go over')
          else {
            for (const [at, link] of links.entries()) {
              const moved = link.bytes - (before[at] ?? 0)
              assert.ok(moved < TALK_BYTES, `${dataName}: ${moved} bytes over link ${at}`)
            }
          }
        }
        // An echo of anything would have come before these have been everywhere.
        await marked('at last')
        for (const { log, name: who } of members) assert.deepEqual(log.ids, pushed, who)
        for (const { daemon } of members) assert.doesNotMatch(daemon.stderr(), / (warn|error) /)
      },
    )
  }
})
