import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { join, startMember, type TestMember } from './support/circle.ts'

/** Who joins whom, by index. */
const TOPOLOGIES = {
  'a chain of four': [
    [0, 1],
    [1, 2],
    [2, 3],
  ],
  'a star of three around a node': [
    [1, 0],
    [2, 0],
    [3, 0],
  ],
  'a ring of four': [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
  ],
  'a mesh of four': [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ],
  'two that joined each other': [
    [0, 1],
    [1, 0],
  ],
} as const

async function startGroup(
  t: TestContext,
  links: readonly (readonly [number, number])[],
): Promise<readonly TestMember[]> {
  const count = 1 + Math.max(...links.flat())
  const members = await Promise.all(
    Array.from({ length: count }, (_, index) => startMember(t, index)),
  )
  for (const [from, to] of links) {
    const [a, b] = [members[from], members[to]]
    assert.ok(a !== undefined && b !== undefined, 'both are there')
    await join(t, a, b)
  }
  return members
}

const all = (members: readonly TestMember[], text: string): Promise<unknown> =>
  Promise.all(members.map((member) => member.has(text)))

describe('a group', () => {
  for (const [name, links] of Object.entries(TOPOLOGIES)) {
    it(`passes on what is copied anywhere, once to each: ${name}`, async (t) => {
      const members = await startGroup(t, links)
      const texts: string[] = []
      for (const [index, member] of [...members, ...members].entries()) {
        const text = `text ${index}`
        texts.push(text)
        await member.copy(text)
        await all(members, text)
      }
      for (const { changes, id } of members) {
        assert.equal(changes.length, texts.length, `${id} had each item once`)
        assert.equal(new Set(changes).size, texts.length, id)
      }
    })
  }
})
