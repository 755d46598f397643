/**
 * `application/x-www-form-urlencoded`, read the way browsers read it (WHATWG URL, section 5): a
 * percent sign that begins no escape stands for itself.
 *
 * One pass over the body, which decodes what somebody wants and nothing else.
 * @module
 */

import { decodeUtf8 } from '../lib/utf8.ts'
import { HttpError } from './http-error.ts'

/** Pairs of a form, empty ones included. Those of clients have a dozen. */
const MAX_PAIRS = 1000

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

const ENCODED = /[%+\u0080-\u00ff]/

/** Takes the pairs of a form. */
export interface PairVisitor {
  /** Names of more characters are passed over. */
  readonly longestName: number
  /** Whether the value of this name, in ASCII, is wanted. */
  wants(name: string): boolean
  add(name: string, value: string): void
}

/**
 * Shows `visitor` the pairs of a form, in their order.
 *
 * @throws {HttpError} `BAD_BODY` when a value that is wanted is not UTF-8, or there are more than
 *   1,000 pairs.
 */
export function readUrlencoded(body: Uint8Array, visitor: PairVisitor): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
  // Each character may be escaped.
  const longest = 3 * visitor.longestName
  for (let start = 0, pairs = 1; start < text.length; pairs++) {
    if (pairs > MAX_PAIRS) throw new HttpError('BAD_BODY', { detail: 'more than 1,000 pairs' })
    const found = text.indexOf('&', start)
    const end = found === -1 ? text.length : found
    const equals = text.slice(start, Math.min(end, start + longest + 1)).indexOf('=')
    const nameEnd = equals === -1 ? end : start + equals
    if (nameEnd > start && nameEnd - start <= longest) {
      const name = unescapeText(text.slice(start, nameEnd)).toString('latin1')
      if (visitor.wants(name)) visitor.add(name, decodeValue(text.slice(nameEnd + 1, end)))
    }
    start = end + 1
  }
}

function decodeValue(encoded: string): string {
  const bytes = unescapeText(encoded)
  return typeof bytes === 'string' ? bytes : decodeField(bytes)
}

/** The text of a field. @throws {HttpError} `BAD_BODY` when it is not UTF-8. */
export function decodeField(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    // A TypeError that knows nothing but this.
    throw new HttpError('BAD_BODY', { detail: 'a field is not UTF-8' })
  }
}

/**
 * @param encoded Bytes as latin1.
 * @returns Bytes of UTF-8; or the text, when that is what it is already.
 */
function unescapeText(encoded: string): Buffer | string {
  if (!ENCODED.test(encoded)) return encoded
  const bytes = Buffer.from(encoded, 'latin1')
  return bytes.subarray(0, unescapeInPlace(bytes))
}

/** @returns How many bytes are left. */
function unescapeInPlace(bytes: Uint8Array): number {
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const high = byte === PERCENT ? hexValue(bytes[at + 1]) : -1
    const low = high === -1 ? -1 : hexValue(bytes[at + 2])
    if (low === -1) {
      bytes[end++] = byte === PLUS ? SPACE : byte
    } else {
      bytes[end++] = high * 16 + low
      at += 2
    }
  }
  return end
}

/** @returns -1 for anything but a hex digit. */
function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
