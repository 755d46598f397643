import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError } from '../../src/http/http-error.ts'
import { JsonValues } from '../../src/http/read-body.ts'
import fc from '../support/property.ts'

/** Values of decoded JSON, nested ones and itself included. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 1)
}

/** The same without a text in it. */
function blank(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blank)
  if (typeof value !== 'object' || value === null) return 0
  return Object.fromEntries(Object.values(value).map((inner, index) => [index, blank(inner)]))
}

function hasMoreValues(pieces: readonly Uint8Array[], most: number): boolean {
  const values = new JsonValues(most)
  try {
    for (const piece of pieces) values.add(piece)
  } catch (error) {
    assert.ok(error instanceof HttpError && error.code === 'BAD_BODY')
    return true
  }
  return false
}

function has(json: string, most: number): boolean {
  return hasMoreValues([Buffer.from(json)], most)
}

describe('the values of JSON', () => {
  it('are counted wherever they are', () => {
    for (const [json, count] of [
      ['[1,2]', 3],
      ['{"a":1,"b":{"c":2}}', 4],
      ['[[[1]]]', 4],
      ['["[,{"]', 2],
      ['["\\",[","\\\\",1]', 4],
    ] as const) {
      assert.equal(has(json, count), false, json)
      assert.equal(has(json, count - 1), true, json)
    }
  })

  it('are as many as there are when it is decoded, where empty lists and objects count as two', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (value) => {
        const json = JSON.stringify(value)
        const empty = JSON.stringify(blank(value)).match(/\[\]|\{\}/g)?.length ?? 0
        const count = countValues(JSON.parse(json)) + empty
        assert.equal(has(json, count), false, json)
        assert.equal(has(json, count - 1), true, json)
      }),
    )
  })

  it('are counted in anything, to its end', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(20), (bytes, most) => {
        assert.equal(typeof hasMoreValues([bytes], most), 'boolean')
      }),
    )
    assert.equal(has('"\\', 1), false)
    assert.equal(has('', 1), false)
  })

  it('are the same, however the bytes are cut', () => {
    const texts = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', 'a') })
    fc.assert(
      fc.property(texts, fc.nat(20), fc.nat(20), (json, cut, most) => {
        const bytes = Buffer.from(json)
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
        assert.equal(hasMoreValues(pieces, most), has(json, most))
      }),
    )
  })
})
