import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LineSplitter } from '../../../src/desktop/helper/helper-child.ts'
import fc, { forAll } from '../../support/property.ts'

/** Lines, and `null` where one was refused. */
function split(maxLineBytes: number, chunks: readonly Uint8Array[]): (string | null)[] {
  const seen: (string | null)[] = []
  const splitter = new LineSplitter({
    maxLineBytes,
    onLine: (line) => seen.push(Buffer.from(line).toString('latin1')),
    onRefused: () => seen.push(null),
  })
  for (const chunk of chunks) splitter.push(chunk)
  return seen
}

describe('LineSplitter', () => {
  it('refuses a line without an end as soon as it is too long', () => {
    const chunks = ['abc', 'de', 'fghijk', 'l\nok\n'].map((chunk) => Buffer.from(chunk))
    assert.deepEqual(split(3, chunks.slice(0, 2)), [null])
    assert.deepEqual(split(3, chunks), [null, 'ok'])
  })

  it('gives the same lines however the bytes are cut', () => {
    const alphabet = fc.constantFrom(0x0a, 0x0a, 0x0d, 0x41, 0xc3)
    const bytes = fc.array(alphabet, { maxLength: 60 }).map((values) => Uint8Array.from(values))
    const cuts = fc.array(fc.nat(60), { maxLength: 12 })
    forAll(bytes, cuts, fc.nat(6), (all, places, maxLineBytes) => {
      // What has no end may be refused early or late: everything gets one here.
      const whole = Buffer.concat([all, Buffer.from('\n')])
      const sorted = [0, ...places.toSorted((a, b) => a - b), whole.length]
      const chunks = sorted.slice(1).map((end, index) => whole.subarray(sorted[index], end))
      const expected = whole
        .toString('latin1')
        .split('\n')
        .slice(0, -1)
        .map((line) => line.replace(/\r$/, ''))
        .map((line) => (line.length > maxLineBytes ? null : line))
      assert.deepEqual(split(maxLineBytes, chunks), expected)
    })
  })
})
