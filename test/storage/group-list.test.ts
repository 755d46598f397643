import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decodeGroupList,
  encodeGroupList,
  type GroupFile,
  type GroupList,
} from '../../src/storage/blobs/group-list.ts'
import fc, { forAll } from '../support/property.ts'

const numbers = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

const parts = fc.record({
  gap: fc.nat({ max: 300 }),
  path: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  identity: fc.record({
    size: fc.integer({ min: 1, max: 2 ** 40 }),
    ino: numbers,
    dev: numbers,
    // Before 1970 as well.
    mtimeNs: fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
  }),
})

const digests = fc.constantFrom('ab'.repeat(32), '01'.repeat(32))

const members = fc
  .record({
    name: fc.constantFrom('ab'.repeat(16), '01'.repeat(16)),
    dataName: fc.constantFrom('a', 'b c.jpg', '写真.png'),
    size: fc.maxSafeNat(),
    sha256: digests,
    blake3: digests,
  })
  .map((member) => ({ ...member }))

const lists: fc.Arbitrary<GroupList> = fc
  .tuple(
    fc.array(parts, { maxLength: 6 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.option(fc.array(members, { maxLength: 6 }), { nil: undefined }),
  )
  .map(([entries, tail, members]) => {
    const files: GroupFile[] = []
    let end = 0
    let gaps = 0
    for (const { gap, path, identity } of entries) {
      files.push({ path, start: end + gap, identity: { ...identity } })
      gaps += gap
      end += gap + identity.size
    }
    const frame = Buffer.concat([Buffer.alloc(gaps, '\n'), tail])
    return { size: end + tail.length, files, frame, members }
  })

describe('the list of a group', () => {
  it('gives back what was written', () =>
    forAll(lists, (list) => {
      const { frame, ...rest } = decodeGroupList(encodeGroupList(list))
      assert.deepEqual({ ...rest, frame: Buffer.from(frame) }, list)
    }))

  it('is refused when it is cut off anywhere, or longer', () =>
    forAll(lists, fc.nat(), (list, cut) => {
      const bytes = encodeGroupList(list)
      assert.throws(() => decodeGroupList(bytes.subarray(0, cut % bytes.length)), TypeError)
      assert.throws(() => decodeGroupList(Buffer.concat([bytes, Buffer.of(1)])), TypeError)
    }))

  it('is refused in any other form, without a word of what is in it', () => {
    const secret = 'correct-horse'
    const members = fc.constantFrom('version', 'size', 'files', 'path', 'start')
    forAll(fc.jsonValue(), members, (value, name) => {
      const text = JSON.stringify({ version: 1, size: 0, files: [{ [name]: [value, secret] }] })
      const refusal = { name: 'TypeError', message: new RegExp(`^(?!.*${secret})`) }
      assert.throws(() => decodeGroupList(Buffer.from(`${text}\n`)), refusal)
    })
  })

  it('is refused when its files overlap, or leave a hole', () => {
    const file = (start: number, size: number): GroupFile => {
      return { path: Buffer.from('/a'), start, identity: { size, ino: 1n, dev: 1n, mtimeNs: 1n } }
    }
    const read = (size: number, ...files: readonly GroupFile[]): GroupList => {
      return decodeGroupList(encodeGroupList({ size, files, frame: Buffer.alloc(4) }))
    }
    assert.equal(read(9, file(2, 5)).size, 9)
    for (const [size, ...files] of [
      [10, file(2, 5)],
      [8, file(2, 5)],
      [9, file(5, 5)],
      [14, file(2, 5), file(6, 5)],
      [4, file(2, 0)],
    ] as const) {
      assert.throws(() => read(size, ...files), TypeError)
    }
  })
})
