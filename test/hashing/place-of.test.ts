import assert from 'node:assert/strict'
import { it } from 'node:test'
import { comparePlaces, type Place } from '../../src/core/stamp.ts'
import { placeOf } from '../../src/hashing/place-of.ts'
import { sha256 } from '../support/hashes.ts'
import fc, { forAll } from '../support/property.ts'

const STAMP = { at: 5, member: 'm_0000000000000001' }

const placed = (type: 'Text' | 'File' | 'Group', dataName: string, bytes: string): Place =>
  placeOf({ type, dataName, stamp: STAMP }, sha256(bytes).toUpperCase(), () => true)

// Protocol: Stamps are compared by `stampedAt`, `stampedBy`, `hash`, then the SHA-256 of
it('items of one stamp have an order, by their bytes, then by type and name', () => {
  const { rank = '' } = placed('File', 'a.txt', 'x')
  assert.equal(rank, sha256('x') + sha256('File|a.txt'))
  const same = placed('Text', '', 'x')
  assert.equal(comparePlaces(same, placed('Text', 'clipboard.txt', 'x')), 0)
  const items = fc.record({
    type: fc.constantFrom('Text', 'File', 'Group'),
    dataName: fc.constantFrom('a', 'b'),
    bytes: fc.constantFrom('x', 'y'),
  })
  forAll(items, items, (a, b) => {
    const [here, there] = [a, b].map(({ type, dataName, bytes }) => placed(type, dataName, bytes))
    const order = comparePlaces(here, there)
    assert.equal(order + comparePlaces(there, here), 0)
    if (a.bytes !== b.bytes) assert.equal(order > 0, sha256(a.bytes) > sha256(b.bytes))
    const isSame = a.type === b.type && (a.type === 'Text' || a.dataName === b.dataName)
    assert.equal(order === 0, isSame && a.bytes === b.bytes)
  })
})

it('an item whose bytes nobody told has no other place than any of its stamp', () => {
  const unknown = placeOf({ type: 'File', dataName: 'a', stamp: STAMP }, '', () => true)
  assert.equal(comparePlaces(unknown, placed('File', 'b', 'x')), 0)
  assert.ok(comparePlaces(unknown, undefined) > 0, 'it is later than none')
})
