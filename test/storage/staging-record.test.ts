import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatStagingRecord, parseStagingRecord } from '../../src/storage/staging-record.ts'
import fc from '../support/property.ts'

const digests = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => {
  return Buffer.from(bytes).toString('hex')
})

const records = fc.record({
  deviceId: fc.string(),
  credential: fc.option(digests, { nil: undefined }),
  dataName: fc.constantFrom('a', 'b c.txt', '写真.png', '__proto__'),
  mediaType: fc.string({ unit: 'grapheme' }),
  size: fc.maxSafeNat(),
  sha256: digests,
  blake3: digests,
  stagedAt: fc.integer(),
  sequence: fc.maxSafeNat(),
  bootId: fc.option(fc.string(), { nil: undefined }),
})

describe('the record of a staged upload', () => {
  it('gives back what was written', () => {
    fc.assert(
      fc.property(records, (record) => {
        assert.deepEqual(parseStagingRecord(formatStagingRecord(record)), structuredClone(record))
      }),
    )
  })

  it('is refused when a member is missing or of another kind', () => {
    const wrong = fc.constantFrom(undefined, true, -1, 1.5, 'x/y', [], {})
    const member = fc.constantFrom('version', 'dataName', 'size', 'sha256', 'blake3', 'sequence')
    fc.assert(
      fc.property(records, member, wrong, (record, name, value) => {
        const spoilt = { version: 1, ...record, [name]: value }
        assert.throws(() => parseStagingRecord(JSON.stringify(spoilt)), TypeError)
      }),
    )
  })

  it('of an earlier version names no credential', () => {
    fc.assert(
      fc.property(records, ({ credential: _, ...record }) => {
        const text = JSON.stringify({ version: 1, ...record })
        assert.equal(parseStagingRecord(text).credential, undefined)
      }),
    )
  })

  it('is refused with one kind of error, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        assert.throws(
          () => parseStagingRecord(text),
          (error) => {
            return error instanceof SyntaxError || error instanceof TypeError
          },
        )
      }),
    )
  })
})
