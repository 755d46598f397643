import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decodeChangeReply,
  decodeClipboardState,
  decodeReadReply,
} from '../../../src/desktop/helper/clipboard-messages.ts'
import fc, { forAll } from '../../support/property.ts'

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const names = fc.array(fc.string())

const almost = fc.record(
  {
    change: fc.oneof(count, fc.double(), fc.jsonValue()),
    types: fc.oneof(names, fc.jsonValue()),
    denied: fc.oneof(names, fc.jsonValue()),
    outcome: fc.oneof(fc.constantFrom('read', 'absent', 'tooLong', 'written'), fc.jsonValue()),
    bytes: fc.oneof(count, fc.double(), fc.jsonValue()),
  },
  { requiredKeys: [] },
)

describe('The messages of a clipboard helper', () => {
  it('are precise, or refused with a TypeError that quotes nothing', () => {
    for (const decode of [decodeClipboardState, decodeReadReply, decodeChangeReply]) {
      forAll(fc.oneof(fc.jsonValue(), almost), (value) => {
        try {
          const decoded: { change: number; types?: unknown; bytes?: unknown } = decode(value)
          assert.ok(Number.isSafeInteger(decoded.change) && decoded.change >= 0, 'a count')
          if ('bytes' in decoded) assert.ok(Number.isSafeInteger(decoded.bytes), 'a length')
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error
          assert.ok(error instanceof TypeError, 'a TypeError')
          assert.match(error.message, /^"[a-z[\]0-9.]+" must be [a-zA-Z, ]+$/)
        }
      })
    }
  })
})
