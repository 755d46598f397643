import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decodeChangeReply,
  decodeClipboardState,
  decodeReadReply,
} from '../../../src/desktop/helper/clipboard-messages.ts'
import fc from '../../support/property.ts'

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
  it('tell what is on the clipboard', () => {
    const types = ['public.png', 'public.tiff']
    const state = { change: 7, types, denied: [] }
    assert.deepEqual(decodeClipboardState({ event: 'changed', change: 7, types }), state)
    assert.deepEqual(decodeClipboardState({ reply: 1, ...state, more: 1 }), state)
  })

  it('tell what was read, and always how long it is', () => {
    const reply = { outcome: 'read', change: 7, bytes: 12 }
    assert.deepEqual(decodeReadReply({ reply: 3, ...reply }), reply)
    assert.throws(() => decodeReadReply({ outcome: 'read', change: 7 }), TypeError)
    assert.throws(() => decodeReadReply({ ...reply, bytes: -1 }), TypeError)
    assert.throws(() => decodeReadReply({ ...reply, bytes: 0.5 }), TypeError)
    assert.deepEqual(decodeReadReply({ outcome: 'tooLong', change: 7, bytes: 1e9 }), {
      outcome: 'tooLong',
      change: 7,
    })
  })

  it('tell which change was ours', () => {
    assert.deepEqual(decodeChangeReply({ outcome: 'written', change: 8 }), {
      outcome: 'done',
      change: 8,
    })
    assert.deepEqual(decodeChangeReply({ outcome: 'overtaken', change: 9 }), {
      outcome: 'overtaken',
      change: 9,
    })
    assert.throws(() => decodeChangeReply({ outcome: 'read', change: 8 }), TypeError)
  })

  it('are precise, or refused with a TypeError that quotes nothing', () => {
    for (const decode of [decodeClipboardState, decodeReadReply, decodeChangeReply]) {
      fc.assert(
        fc.property(fc.oneof(fc.jsonValue(), almost), (value) => {
          try {
            const decoded: { change: number; types?: unknown; bytes?: unknown } = decode(value)
            assert.ok(Number.isSafeInteger(decoded.change) && decoded.change >= 0, 'a count')
            if ('bytes' in decoded) assert.ok(Number.isSafeInteger(decoded.bytes), 'a length')
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error
            assert.ok(error instanceof TypeError, 'a TypeError')
            assert.match(error.message, /^"[a-z[\]0-9.]+" must be [a-zA-Z, ]+$/)
          }
        }),
      )
    }
  })
})
