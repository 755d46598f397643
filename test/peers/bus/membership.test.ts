import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Membership, parseMembership } from '../../../src/peers/bus/membership.ts'
import { MemoryPrivateFile } from '../../support/memory-private-file.ts'
import fc, { forAll } from '../../support/property.ts'

const MEMBER = 'm_0123456789abcdef'

const PLAIN = { noNullPrototype: true } as const

describe('the membership of a group', () => {
  it('keeps who this member is, and counts its starts', async () => {
    const file = new MemoryPrivateFile()
    const first = await Membership.open(file, 'g', 0)
    const second = await Membership.open(file, 'g', 0)
    assert.equal(second.state.member, first.state.member)
    assert.deepEqual([first.state.epoch, second.state.epoch], [1, 2])
    const later = await Membership.open(file, 'g', 1_700_000_000_000)
    assert.equal(later.state.epoch, 1_700_000_000)
    assert.equal((await Membership.open(file, 'g', 5)).state.epoch, 1_700_000_001)
  })

  it('goes on counting when an old copy of it was restored', async () => {
    const file = new MemoryPrivateFile()
    await Membership.open(file, 'g', 1_700_000_000_000)
    const backup = file.text
    const last = await Membership.open(file, 'g', 1_700_000_100_000)
    file.text = backup
    const restored = await Membership.open(file, 'g', 1_700_000_200_000)
    assert.ok(restored.state.epoch > last.state.epoch, String(restored.state.epoch))
  })

  it('remembers the members of its group, and forgets those of another one', async () => {
    const file = new MemoryPrivateFile()
    const membership = await Membership.open(file, 'g', 0)
    await membership.save([{ origin: MEMBER, epoch: 9 }])
    const { state } = await Membership.open(file, 'g', 0)
    assert.deepEqual(state.known, [{ origin: MEMBER, epoch: 9 }])
    assert.deepEqual((await Membership.open(file, 'other', 0)).state.known, [])
  })

  it('that is damaged stops the start, and is left alone', async () => {
    const neverStarted = { version: 1, member: MEMBER, epoch: 0, group: 'g', known: [] }
    const others = ['{"version":2}', '{"version":1,"member":"x"}', JSON.stringify(neverStarted)]
    for (const text of ['', '{', '[]', ...others]) {
      const file = new MemoryPrivateFile(text)
      await assert.rejects(Membership.open(file, 'g', 0), { code: 'DATA_CORRUPT' })
      assert.equal(file.text, text)
    }
    const newer = new MemoryPrivateFile('{"version":99}')
    const message = /a newer version of clipgate wrote it; run that version$/
    await assert.rejects(Membership.open(newer, 'g', 0), { message })
  })

  it('comes back as it was written, and of other text there is none', () => {
    const known = fc.array(
      fc.record({ origin: fc.constant(MEMBER), epoch: fc.integer({ min: 1 }) }, PLAIN),
      { maxLength: 5 },
    )
    forAll(fc.integer({ min: 1 }), known, fc.string(), (epoch, members, group) => {
      const state = { member: MEMBER, epoch, group, known: members }
      assert.deepEqual(parseMembership(JSON.stringify({ version: 1, ...state })), state)
    })
    forAll(fc.oneof(fc.string(), fc.json()), (text) => {
      assert.throws(() => parseMembership(text), TypeError)
    })
  })
})
