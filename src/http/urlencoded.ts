/**
 * `application/x-www-form-urlencoded`, read the way browsers read it (WHATWG URL, section 5): a
 * percent sign that begins no escape stands for itself.
 *
 * One pass over the body, which decodes what somebody wants and nothing else.
 * @module
 */

import { setImmediate as turn } from 'node:timers/promises'
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
  add(name: string, value: string): void
}

/**
 * Shows `visitor` the pairs of a form, in their order. Others have their turn between two pieces of
 * long values.
 *
 * @param pieceBytes Bytes of values that are decoded in one go; 3 or more.
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
      const name = unescapeText(body.subarray(start, nameEnd)).toString('latin1')
      if (visitor.wants(name)) {
        const value = body.subarray(nameEnd + 1, end)
        sinceTurn += value.length
        if (sinceTurn > pieceBytes) {
          await turn()
          sinceTurn = value.length % pieceBytes
        }
        visitor.add(name, await decodePieces(unescapedPieces(value, pieceBytes)))
      }
    }
    start = end + 1
  }
}

/**
 * The text of a field. Others have their turn between two pieces of a long one.
 *
 * @throws {HttpError} `BAD_BODY` when it is not UTF-8.
 */
export function decodeField(bytes: Uint8Array): Promise<string> {
  return decodePieces(piecesOf(bytes))
}

async function decodePieces(pieces: Iterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  try {
    for (const piece of pieces) {
      if (text !== '') await turn()
      text += decoder.decode(piece, { stream: true })
    }
    return text + decoder.decode()
  } catch {
    // A TypeError that knows nothing but this.
    throw badBody('a field is not UTF-8')
  }
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES)
  }
}

/** No escape is cut. */
function* unescapedPieces(encoded: Uint8Array, pieceBytes: number): Generator<Uint8Array, void> {
  for (let start = 0; start < encoded.length; ) {
    let end = start + pieceBytes
    const percent = end < encoded.length ? encoded.subarray(end - 2, end).indexOf(PERCENT) : -1
    if (percent !== -1) end += percent - 2
    yield unescapeText(encoded.subarray(start, end))
    start = end
  }
}

function unescapeText(encoded: Uint8Array): Buffer {
  const bytes = Buffer.from(encoded)
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
