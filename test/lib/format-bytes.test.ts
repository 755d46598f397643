import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatBytes } from '../../src/lib/format-bytes.ts'

/** The same file is seen in a terminal, in notifications, on the panel and on a phone. */
const SIZES: readonly (readonly [bytes: number, words: string])[] = [
  [0, '0 bytes'],
  [1, '1 byte'],
  [17, '17 bytes'],
  [1023, '1023 bytes'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [10_188, '9.9 KiB'],
  [10_200, '10 KiB'],
  [1_048_000, '1023 KiB'],
  [1_048_500, '1.0 MiB'],
  [2_345_678, '2.2 MiB'],
  [16 * 2 ** 20, '16 MiB'],
  [30_000_000, '29 MiB'],
  [10 * 2 ** 30, '10 GiB'],
  [2 ** 40, '1.0 TiB'],
  [2 ** 60, '1024 PiB'],
]

describe('a size', () => {
  it('has few words', () => {
    assert.deepEqual(
      SIZES.map(([bytes]) => formatBytes(bytes)),
      SIZES.map(([, words]) => words),
    )
  })
})
