import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JsonMeter } from '../../src/client/answer.ts'
import fc, { forAll } from '../support/property.ts'

function measure(...pieces: readonly Uint8Array[]): readonly [number, number] {
  const meter = new JsonMeter()
  for (const piece of pieces) meter.add(piece)
  return [meter.size, meter.values]
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const countValues = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1)
    : 1

describe('the size of JSON', () => {
  it('counts an escape as what it spells has in UTF-8', () => {
    assert.deepEqual(measure(encode('"ab"')), [4, 1])
    assert.deepEqual(measure(encode('"\\n\\"\\\\\\u0001\\u0041"')), [7, 1])
    for (const character of ['é', '中', '🙂', '\u07ff', '\uFFFF']) {
      const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16))
      const escaped = units.map((unit) => `\\u${unit.padStart(4, '0')}`).join('')
      assert.equal(measure(encode(`"${escaped}"`))[0], encode(`"${character}"`).length, escaped)
    }
  })

  it('counts values outside of texts only', () => {
    assert.equal(measure(encode('{"a":[1,2],"b":"[,{\\",["}'))[1], 5)
  })

  it('is the same however the bytes are cut, and never more than the bytes', () =>
    forAll(fc.json(), fc.nat(), (json, at) => {
      const bytes = encode(json)
      const cut = at % (bytes.length + 1)
      const whole = measure(bytes)
      assert.deepEqual(measure(bytes.subarray(0, cut), bytes.subarray(cut)), whole)
      assert.deepEqual(measure(...[...bytes].map((byte) => Uint8Array.of(byte))), whole)
      assert.ok(whole[0] <= bytes.length)
      assert.ok(whole[1] >= countValues(JSON.parse(json)))
    }))
})
