import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeLzw } from '../../../src/desktop/image/lzw.ts'
import { decodePackBits } from '../../../src/desktop/image/pack-bits.ts'
import { PictureError } from '../../../src/desktop/image/picture.ts'
import fc from '../../support/property.ts'

/** Long enough for several tables of codes; few values repeat, many do not. */
const bytes = fc
  .tuple(fc.constantFrom(1, 2, 3, 16, 256), fc.nat(40_000), fc.integer())
  .map(([values, length, seed]) => pseudoRandom(values, length, seed))

describe('decodeLzw()', () => {
  it('gives what was compressed', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        assert.ok(data.equals(collect(decodeLzw(encodeLzw(data)))), 'the same bytes')
      }),
    )
  })

  it('gives the beginning of what was compressed when it is cut, and never more than that', () => {
    const data = pseudoRandom(3, 20_000, 7)
    const packed = encodeLzw(data)
    fc.assert(
      fc.property(fc.nat(packed.length), (cut) => {
        const part = collect(decodeLzw(packed.subarray(0, cut)))
        assert.ok(data.subarray(0, part.length).equals(part), 'the beginning')
      }),
    )
  })

  it('finds any bytes good or malformed, in parts of a bounded length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (junk) => {
        try {
          for (const part of decodeLzw(junk)) assert.ok(part.length <= 65_536, 'a bounded part')
        } catch (error) {
          assert.ok(error instanceof PictureError && error.code === 'MALFORMED', String(error))
        }
      }),
    )
  })

  it('stops now and then in bytes that mean nothing', () => {
    // Nothing but the code that clears the table.
    const clears = encodeCodes(Array<number>(200_000).fill(256))
    const parts = [...decodeLzw(clears)]
    assert.equal(parts.length, Math.floor(clears.length / 65_536))
    assert.ok(
      parts.every((part) => part.length === 0),
      'nothing comes of it',
    )
  })
})

describe('decodePackBits()', () => {
  it('gives what was compressed', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 128 }), (data, longest) => {
        assert.ok(data.equals(collect(decodePackBits(encodePackBits(data, longest)))), 'the same')
      }),
    )
  })

  it('takes any bytes, and stops now and then in those that mean nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (junk) => {
        for (const part of decodePackBits(junk)) assert.ok(part.length <= 65_536, 'a bounded part')
      }),
    )
    assert.equal([...decodePackBits(Buffer.alloc(200_000, 128))].length, 3)
  })
})

function collect(parts: Iterable<Uint8Array>): Buffer {
  // Parts are valid until the next one only.
  return Buffer.concat(Array.from(parts, (part) => Buffer.from(part)))
}

/** Not fast-check's own bytes: shrinking tens of thousands of them takes minutes. */
function pseudoRandom(values: number, length: number, seed: number): Buffer {
  const data = Buffer.alloc(length)
  let state = seed | 1
  for (let n = 0; n < length; n += 1) {
    state = Math.imul(state, 1_103_515_245) + 12_345
    data[n] = (state >>> 16) % values
  }
  return data
}

/** TIFF 6.0, section 13. */
function encodeLzw(data: Buffer): Buffer {
  const codes: number[] = [256]
  let table = new Map<string, number>()
  let next = 258
  let prefix = -1
  for (const byte of data) {
    const known = prefix === -1 ? byte : table.get(`${prefix} ${byte}`)
    if (known !== undefined) {
      prefix = known
      continue
    }
    codes.push(prefix)
    table.set(`${prefix} ${byte}`, next)
    next += 1
    prefix = byte
    if (next < 4094) continue
    codes.push(prefix, 256)
    prefix = -1
    table = new Map()
    next = 258
  }
  if (prefix !== -1) codes.push(prefix)
  return encodeCodes([...codes, 257])
}

/** Each code has the width that the decoder expects there. */
function encodeCodes(codes: readonly number[]): Buffer {
  const bytes: number[] = []
  let [next, isFirst, bits, count] = [258, true, 0, 0]
  for (const code of codes) {
    const width = next + 1 >= 2048 ? 12 : next + 1 >= 1024 ? 11 : next + 1 >= 512 ? 10 : 9
    bits = ((bits << width) | code) & 0xff_ffff
    for (count += width; count >= 8; count -= 8) bytes.push((bits >> (count - 8)) & 255)
    if (code === 256) [next, isFirst] = [258, true]
    else if (isFirst) isFirst = false
    else next += 1
  }
  if (count > 0) bytes.push((bits << (8 - count)) & 255)
  return Buffer.from(bytes)
}

/** Runs where there are any, and never more than `longest` bytes at once. */
function encodePackBits(data: Buffer, longest: number): Buffer {
  const packed: number[] = []
  for (let at = 0; at < data.length; ) {
    let run = 1
    while (run < longest && at + run < data.length && data[at + run] === data[at]) run += 1
    if (run > 1) packed.push(257 - run, data[at] ?? 0)
    else packed.push(0, data[at] ?? 0)
    at += run
  }
  return Buffer.from(packed)
}
