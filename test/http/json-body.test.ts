import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { HttpError } from '../../src/http/http-error.ts'
import { JsonScan, parseJson, parseScannedJson } from '../../src/http/json-body.ts'
import fc, { forAll, forAllAsync } from '../support/property.ts'
import { turnsDuring } from '../support/turns-during.ts'

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
  const values = new JsonScan(most)
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
  // Protocol: JSON of more than 20,000 values is 400
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

  it('are as many as there are when it is decoded, where empty lists and objects count as two', () =>
    forAll(fc.array(fc.jsonValue()), (value) => {
      const json = JSON.stringify(value)
      const empty = JSON.stringify(blank(value)).match(/\[\]|\{\}/g)?.length ?? 0
      const count = countValues(JSON.parse(json)) + empty
      assert.equal(has(json, count), false, json)
      assert.equal(has(json, count - 1), true, json)
    }))

  it('have one text each, and a key: more of them are no JSON', () => {
    const texts = (count: number): Buffer => Buffer.from(`"${'x'.repeat(65)}"`.repeat(count))
    const values = new JsonScan(10)
    values.add(texts(20))
    assert.throws(() => values.add(texts(1)), { code: 'BAD_BODY' })
  })

  it('are counted in anything, to its end', () => {
    forAll(fc.uint8Array(), fc.nat(20), (bytes, most) => {
      assert.equal(typeof hasMoreValues([bytes], most), 'boolean')
    })
    assert.equal(has('"\\', 1), false)
    assert.equal(has('', 1), false)
  })

  it('are the same, however the bytes are cut', () => {
    const texts = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', 'a') })
    forAll(texts, fc.nat(20), fc.nat(20), (json, cut, most) => {
      const bytes = Buffer.from(json)
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
      assert.equal(hasMoreValues(pieces, most), has(json, most))
    })
  })
})

describe('long texts in JSON', () => {
  const PIECE = 2 ** 20

  async function parseLong(json: Uint8Array, longText?: number, piece?: number): Promise<unknown> {
    const bytes = Uint8Array.from(json)
    const scan = new JsonScan(undefined, longText)
    scan.add(bytes)
    return withStrings(await parseScannedJson(bytes, scan, piece))
  }

  /** The same with strings in the place of bytes, which have no halves of characters. */
  function withStrings(value: unknown): unknown {
    if (typeof value === 'string') return value.toWellFormed()
    if (value instanceof Uint8Array) return Buffer.from(value).toString()
    if (Array.isArray(value)) return value.map(withStrings)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withStrings(one)]))
  }

  async function resultOf(parsing: () => unknown): Promise<unknown> {
    try {
      return await parsing()
    } catch (error) {
      assert.ok(error instanceof HttpError && error.code === 'BAD_BODY')
      return error.code
    }
  }

  it('are what they are in one go, wherever they are cut, and whatever is wrong with them', async () => {
    const good = ['\\\\', '\\"', '\\n', '\\u00e9', '\\ud83e\\uddc0', '写', '🧀', 'x', '\ufeff']
    const bad = ['\\', '\\u00', '\\x', '\n', Buffer.from([0xff]), Buffer.from([0x80])]
    const unit = fc.oneof(
      { arbitrary: fc.constantFrom<string | Buffer>(...good), weight: 200 },
      { arbitrary: fc.constantFrom(...bad), weight: 1 },
    )
    const text = fc.array(unit, { maxLength: 100, size: 'max' })
    const piece = fc.integer({ min: 16, max: 40 })
    await forAllAsync(text, text, piece, async (one, other, pieceBytes) => {
      const parts = ['{"a":[{"b":"', ...one, '"},"short"],"c":"', ...other, '"}']
      const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)))
      const inPieces = await resultOf(() => parseLong(bytes, 20, pieceBytes))
      assert.deepEqual(inPieces, await resultOf(async () => withStrings(await parseJson(bytes))))
    })
  })

  it('may be many, and names too', async () => {
    const json = JSON.stringify({
      first: 'a'.repeat(5000),
      ['b'.repeat(5000)]: 'c',
      list: [['d'.repeat(PIECE * 2)], 1, null, 'e'.repeat(2048)],
    })
    const { first, list } = Object(await parseLong(Buffer.from(json)))
    const wanted = JSON.parse(json)
    assert.deepEqual({ first, list }, { first: wanted.first, list: wanted.list })
  })

  it('let others have their turn, be it one or many', async () => {
    const many = Array.from({ length: 16_000 }, (_, index) => `${index}`.padEnd(1000, 'é'))
    for (const text of ['x'.repeat(16 * PIECE), many]) {
      const turns = await turnsDuring(async () => {
        const parsed = await parseLong(Buffer.from(JSON.stringify({ text })))
        // A difference of megabytes is nothing to print.
        assert.ok(isDeepStrictEqual(parsed, { text }))
      })
      assert.ok(turns >= 15, `${turns} turns`)
    }
  })
})
