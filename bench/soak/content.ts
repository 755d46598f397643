/**
 * Bytes that can be told again from the name of their file, so that whoever downloads them knows
 * whether they are the right ones.
 * @module
 */

import { Random } from './random.ts'

const POOL_BYTES = 1_048_573

const PNG_SIGNATURE: Buffer = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

const NAME = /^soak-(\d+)-(\d+)\.(?:bin|png)$/

const pool = Buffer.alloc(POOL_BYTES)
const random = new Random(1)
for (let at = 0; at < POOL_BYTES; at++) pool[at] = random.int(0, 255)

/** A name for `size` bytes; `number` tells them from others. */
export function nameOf(number: number, size: number, extension: 'bin' | 'png'): string {
  return `soak-${number}-${size}.${extension}`
}

/** The bytes of a file of that name; `undefined` when no file of ours has it. */
export function bytesOf(name: string): Buffer | undefined {
  const [, number, digits] = NAME.exec(name) ?? []
  if (number === undefined || digits === undefined) return undefined
  const size = Number(digits)
  const bytes = Buffer.allocUnsafe(size)
  let from = (Number(number) * 7919) % POOL_BYTES
  for (let at = 0; at < size; from = 0) at += pool.copy(bytes, at, from)
  if (name.endsWith('.png')) PNG_SIGNATURE.copy(bytes)
  return bytes
}

/** A text of `length` characters, not all of them ASCII. */
export function textOf(number: number, length: number): string {
  return `${number} äöü 漢字 🙂 `.padEnd(length, 'The quick brown fox jumps. ')
}
