import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it, type TestContext } from 'node:test'
import { PNG } from 'pngjs'
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
  'a ring of four': [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
  ],
  'a full mesh of three': [
    [0, 1],
    [0, 2],
    [1, 2],
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
  const count = 1 + Math.max(...pairs.flat())
  const names = Array.from({ length: count }, (_, index) => `member ${index}`)
  const { main } = program
  const members = await Promise.all(names.map((name) => MemberProcess.start(t, name, { main })))
  const links = await Promise.all(
    pairs.map(async ([from, to]) => {
      const [a, b] = [members[from], members[to]]
      assert.ok(a !== undefined && b !== undefined, 'both are there')
      const proxy = await startProxy(t, b.gateway)
      await a.join(b, { url: proxy.url })
      return proxy
    }),
  )
  return { members, links }
}

function makePng(): Buffer {
  const png = new PNG({ width: 700, height: 500 })
  randomBytes(png.data.length).copy(png.data)
  return PNG.sync.write(png)
}

describe('daemons in processes of their own', () => {
  for (const [name, pairs] of Object.entries(TOPOLOGIES)) {
    it(`have each text, image and file once, in ${name}`, async (t) => {
      const { members, links } = await startGroup(t, pairs)
      const everybody = (contentId: string): Promise<unknown> =>
        Promise.all(members.map(({ log }) => log.has(contentId)))
      const pushed: string[] = []
      const push = async (contentId: Promise<string>): Promise<void> => {
        pushed.push(await contentId)
        await everybody(pushed.at(-1) ?? '')
      }
      const by = (index: number) => {
        const member = members[index % members.length]
        assert.ok(member !== undefined, 'there is one')
        return member
      }

      await push(by(0).client.pushText('a text: äöü 🙂'))
      const blobs = [
        { bytes: makePng(), dataName: 'a picture.png', mediaType: 'image/png', type: 'Image' },
        { bytes: randomBytes(5 * MIB), dataName: 'a file é.bin', mediaType: '', type: 'File' },
      ]
      for (const [index, { bytes, dataName, mediaType, type }] of blobs.entries()) {
        const before = links.map((link) => link.bytes)
        const blob = new Blob([bytes])
        await push(by(index + 1).client.pushFile(blob, { dataName, mediaType }))
        for (const { phone, name } of members) {
          const document = await phone.document()
          assert.deepEqual([document['type'], document['dataName']], [type, dataName], name)
          const digest = createHash('sha256')
            .update(await phone.download())
            .digest()
          assert.deepEqual(digest, createHash('sha256').update(bytes).digest(), name)
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
