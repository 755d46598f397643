/**
 * `application/x-www-form-urlencoded`, read the way browsers read it (WHATWG URL, section 5): a
 * percent sign that begins no escape stands for itself.
 *
 * One pass over the body, which decodes what somebody wants and nothing else.
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import { decodeLatin1, decodeUtf8 } from '../lib/utf8.ts'
import { badBody } from './http-error.ts'

/** Pairs of a form, empty ones included. Those of clients have a dozen. */
const MAX_PAIRS = 1000

/** Bytes that are decoded in one go, which takes some milliseconds. */
const PIECE_BYTES: number = 1024 * 1024

const AMPERSAND = 0x26
const EQUALS = 0x3d
const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/** Takes the pairs of a form. */
export interface PairVisitor {
  /** Names of more characters are passed over. */
  readonly longestName: number
  /** Whether the value of this name, in ASCII, is wanted. */
  wants(name: string): boolean
  add(name: string, value: FieldText): void
}

/**
 * Shows `visitor` the pairs of a form, in their order. Others have their turn between two pieces of
 * long values.
 *
 * @param body Handed over: it is decoded in its place.
 * @param pieceBytes Bytes of values that are decoded in one go.
 * @throws {HttpError} `BAD_BODY` when a value that is wanted is not UTF-8, or there are more than
 *   1,000 pairs.
 */
export async function readUrlencoded(
  body: Uint8Array,
  visitor: PairVisitor,
  pieceBytes: number = PIECE_BYTES,
): Promise<void> {
  // Each character may be escaped.
  const longest = 3 * visitor.longestName
  let sinceTurn = 0
  for (let start = 0, pairs = 1; start < body.length; pairs++) {
    if (pairs > MAX_PAIRS) throw badBody('more than 1,000 pairs')
    const found = body.indexOf(AMPERSAND, start)
    const end = found === -1 ? body.length : found
    const equals = body.subarray(start, Math.min(end, start + longest + 1)).indexOf(EQUALS)
    const nameEnd = equals === -1 ? end : start + equals
    if (nameEnd > start && nameEnd - start <= longest) {
      const name = decodeLatin1(await unescapeInPlace(body.subarray(start, nameEnd), longest))
      if (visitor.wants(name)) {
        const value = body.subarray(nameEnd + 1, end)
        sinceTurn += value.length
        if (sinceTurn > pieceBytes) {
          await turn()
          sinceTurn = value.length % pieceBytes
        }
        visitor.add(name, decodeField(await unescapeInPlace(value, pieceBytes)))
      }
    }
    start = end + 1
  }
}

/** The text of a field; a long one is the bytes that it came in, which are UTF-8. */
export type FieldText = string | Uint8Array

/** @throws {HttpError} `BAD_BODY` when it is not UTF-8. */
export function decodeField(utf8: Uint8Array): FieldText {
  if (!isUtf8(utf8)) throw badBody('a field is not UTF-8')
  return utf8.length > PIECE_BYTES ? utf8 : decodeUtf8(utf8)
}

/** Unescapes bytes in their place. */
async function unescapeInPlace(bytes: Uint8Array, pieceBytes: number): Promise<Uint8Array> {
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    if (at > 0) await turn()
    for (const end = Math.min(at + pieceBytes, bytes.length); at < end; at++) {
      const byte = bytes[at] ?? 0
      const high = byte === PERCENT ? hexValue(bytes[at + 1]) : -1
      const low = high === -1 ? -1 : hexValue(bytes[at + 2])
      if (low === -1) {
        bytes[length++] = byte === PLUS ? SPACE : byte
      } else {
        bytes[length++] = high * 16 + low
        at += 2
      }
    }
  }
  return bytes.subarray(0, length)
}

/** @returns -1 for anything but a hex digit. */
function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
