import assert from 'node:assert/strict'
import { it } from 'node:test'
import { formatCircleTime, parseCircleTime } from '../../src/core/circle-time.ts'
import { isStamp } from '../../src/core/stamp.ts'
import fc, { forAll } from '../support/property.ts'

const TEXTS = fc.oneof(fc.string(), fc.bigInt().map(String), fc.double().map(String))

it('the time of a group, in a header field, is read as it was written', () =>
  forAll(fc.integer({ min: 0, max: 99_999_999_999_999 }), (at) => {
    assert.equal(parseCircleTime(formatCircleTime(at)), at)
  }))

it('the time of a group, in a header field, is digits, and nothing else', () => {
  const texts = '| 1|1 |01|-1|+1|1.5|1e3|0x1|NaN|Infinity|1, 2|١|100000000000000'.split('|')
  for (const text of [...texts, '9'.repeat(400), undefined, null, 17, ['1']]) {
    assert.equal(parseCircleTime(text), undefined, String(text).slice(0, 20))
  }
  assert.equal(parseCircleTime('0'), 0)
})

it('the time of a group, in a header field, is one that a stamp can have, whatever was sent', () =>
  forAll(TEXTS, (text) => {
    const at = parseCircleTime(text)
    assert.ok(at === undefined || isStamp({ at, member: 'm_0123456789abcdef' }), text)
  }))
