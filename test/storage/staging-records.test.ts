import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { STAGING_RECORD } from '../../src/storage/uploads/upload-records.ts'
import fc, { forAll } from '../support/property.ts'

const digests = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => {
  return Buffer.from(bytes).toString('hex')
})

const records = fc.record({
  deviceId: fc.string(),
  credential: fc.option(digests, { nil: undefined }),
  dataName: fc.constantFrom('a', 'b c.txt', '写真.png', '__proto__'),
  mediaType: fc.string({ unit: 'grapheme-ascii' }),
  size: fc.maxSafeNat(),
  sha256: digests,
  blake3: digests,
  stagedAt: fc.integer(),
  isResumable: fc.option(fc.boolean(), { nil: undefined }),
  knownAs: fc.option(fc.oneof(digests, fc.constant('')), { nil: undefined }),
  sequence: fc.maxSafeNat(),
  bootId: fc.option(fc.string(), { nil: undefined }),
  member: fc.option(
    fc.record({ batch: fc.constant('0123456789abcdef'.repeat(2)), number: fc.maxSafeNat() }),
    { nil: undefined },
  ),
})

describe('the record of a staged upload', () => {
  it('gives back what was written', () =>
    forAll(records, (record) => {
      const read = STAGING_RECORD.parse(STAGING_RECORD.format(record))
      assert.deepEqual(read, structuredClone(record))
    }))

  it('is refused when a member is missing or of another kind', () => {
    const wrong = fc.constantFrom(undefined, true, -1, 1.5, 'x/y', [], {})
    const member = fc.constantFrom('version', 'dataName', 'size', 'sha256', 'blake3', 'sequence')
    forAll(records, member, wrong, (record, name, value) => {
      const spoilt = { version: 1, ...record, [name]: value }
      assert.throws(() => STAGING_RECORD.parse(JSON.stringify(spoilt)), TypeError)
    })
  })
})
