import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutTrailing } from '../../src/lib/without-trailing.ts'
import fc, { forAll } from '../support/property.ts'
import { MIB } from '../../src/core/limits.ts'

describe('withoutTrailing()', () => {
  it('takes away every one of the character at the end, and no other', () =>
    forAll(fc.string({ unit: fc.constantFrom('a', '/', '\0', '\n') }), (text) => {
      assert.equal(withoutTrailing(text, '/'), text.replace(/\/+$/, ''))
    }))

  it('comes to its end with 16 MiB of the character and another one behind them', () => {
    const run = '/'.repeat(16 * MIB)
    assert.equal(withoutTrailing(`${run}x`, '/').length, 16 * MIB + 1)
    assert.equal(withoutTrailing(run, '/'), '')
    assert.equal(withoutTrailing(`x${run}`, '/'), 'x')
  })
})
