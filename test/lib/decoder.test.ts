import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  arrayOf,
  decodeBoolean,
  decodeNumber,
  decodeString,
  objectOf,
  oneOf,
  optional,
} from '../../src/lib/decoder.ts'
import fc, { forAll } from '../support/property.ts'

const decodePoint = objectOf({
  name: optional(decodeString),
  kind: oneOf(['near', 'far']),
  at: arrayOf(objectOf({ x: decodeNumber, isExact: decodeBoolean })),
})

it('a decoder gives back what has the right shape, without what it does not know', () => {
  const point = { kind: 'far', at: [{ x: 1, isExact: true, y: 2 }], name: null, other: [] }
  const known = { kind: 'far', at: [{ x: 1, isExact: true }], name: undefined }
  assert.deepEqual(decodePoint(point), known)
})

it('a decoder says where and what is wrong', () => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [undefined, '"value" must be an object'],
    [[], '"value" must be an object'],
    [{ kind: 'middle', at: [] }, '"kind" must be one of near, far'],
    [{ kind: 'near', at: {} }, '"at" must be an array'],
    [{ kind: 'near', at: [{ x: 1, isExact: true }, { x: '1' }] }, '"at[1].x" must be a number'],
    [{ kind: 'near', at: [{ x: 1, isExact: 1 }] }, '"at[0].isExact" must be a boolean'],
    [{ kind: 'near', at: [], name: 5 }, '"name" must be a string'],
  ]
  for (const [value, message] of wrong)
    assert.throws(() => decodePoint(value), new TypeError(message))
})

it('a decoder throws nothing but a TypeError, and quotes no string, whatever it is given', () => {
  const [values, keys] = [
    fc.anything({ withNullPrototype: true }),
    fc.constantFrom('kind', 'at', 'name'),
  ]
  forAll(values, keys, (value, key) => {
    const secret = 'sEcReT-value'
    for (const given of [value, { kind: 'near', at: [], [key]: [value, secret] }]) {
      try {
        decodePoint(given)
      } catch (error) {
        assert.ok(error instanceof TypeError)
        assert.ok(!error.message.includes(secret))
      }
    }
  })
})

it('a decoder does not take inherited members for its own', () => {
  assert.throws(() => decodePoint(Object.create({ kind: 'near', at: [] })), TypeError)
})
