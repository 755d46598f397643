import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatBytes as onThePanel } from '../../src/control/panel/format.js'
import { formatBytes } from '../../src/lib/format-bytes.ts'

/** By its address: it is typed as what runs in browsers. */
const PHONE = new URL('../../src/gateway/phone/dom.js', import.meta.url).href
const { formatBytes: onThePhone }: { formatBytes(bytes: number, language: string): string } =
  await import(PHONE)

/** The same file is seen in a terminal, in notifications, on the panel and on a phone. */
const WRITERS: Readonly<Record<string, (bytes: number) => string>> = {
  'the program': formatBytes,
  'the panel': onThePanel,
  'the phone page': (bytes) => onThePhone(bytes, 'en'),
}

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
  for (const [who, write] of Object.entries(WRITERS)) {
    it(`has the words of everybody else: ${who}`, () => {
      assert.deepEqual(
        SIZES.map(([bytes]) => write(bytes)),
        SIZES.map(([, words]) => words),
      )
    })
  }
})
