/**
 * Names in the header of a part, in every spelling that clients have for characters beyond ASCII
 * and for quotes: raw UTF-8 or Latin-1, percent-encoded as browsers do it, RFC 8187, RFC 2047.
 *
 * Takes bytes as latin1. Refuses bytes that look like UTF-8 and are not: overlong forms and
 * surrogates, which some readers take for a slash.
 * @module
 */

import type { HeaderParameter } from './header-parameters.ts'
import { HttpError } from './http-error.ts'

// All that WHATWG has browsers encode: HTML section 4.10.21.8.
const BROWSER_ESCAPE = /%(?:22|0[AaDd])/g

// Overlong forms of two, three and four bytes; surrogates.
const FORGED_UTF8 =
  /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]/

const EXTENDED = /^([^']+)'[^']*'([^]*)$/

// RFC 2047, section 2, with the language of RFC 2231.
const ENCODED_WORD = /^=\?([^?*]+)(?:\*[^?]*)?\?([BbQq])\?([^?]*)\?=$/

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Text in UTF-8, else in Latin-1. */
export function decodeText(latin1: string): string {
  const text = decodeBytes(Buffer.from(latin1, 'latin1'), 'utf-8')
  if (text !== undefined) return text
  if (!FORGED_UTF8.test(latin1)) return latin1
  throw new HttpError('MULTIPART_MALFORMED', { detail: 'a part has text that is not UTF-8' })
}

/** The value of `name` or `filename`. */
export function decodeName({ text, isQuoted }: HeaderParameter): string {
  const name = decodeWords(text) ?? decodeText(text)
  return isQuoted ? name.replace(BROWSER_ESCAPE, decodeURIComponent) : name
}

/** The value of `filename*`: `UTF-8''%E2%82%AC.png`. `undefined` when it is malformed. */
export function decodeExtended(text: string): string | undefined {
  const [, charset, encoded] = EXTENDED.exec(text) ?? []
  if (charset === undefined || encoded === undefined) return undefined
  const bytes = unescapeBytes(encoded, '%')
  return bytes && decodeBytes(bytes, charset)
}

/** A value that consists of encoded words, which all have the same charset. */
function decodeWords(text: string): string | undefined {
  if (!text.startsWith('=?')) return undefined
  const chunks: Buffer[] = []
  let charset: string | undefined
  for (const word of text.split(/[ \t]+/)) {
    const [, label, encoding, encoded = ''] = ENCODED_WORD.exec(word) ?? []
    charset ??= label
    const bytes = encoding && decodeWord(encoding, encoded)
    if (!bytes || label === undefined || label !== charset) return undefined
    chunks.push(bytes)
  }
  return charset && decodeBytes(Buffer.concat(chunks), charset)
}

function decodeWord(encoding: string, encoded: string): Buffer | undefined {
  if (encoding.toLowerCase() === 'q') return unescapeBytes(encoded.replaceAll('_', ' '), '=')
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : undefined
}

/** @returns `undefined` for a sign without two hex digits behind it. */
function unescapeBytes(encoded: string, sign: string): Buffer | undefined {
  const [first = '', ...rest] = encoded.split(sign)
  let latin1 = first
  for (const piece of rest) {
    if (!/^[0-9A-Fa-f]{2}/.test(piece)) return undefined
    latin1 += String.fromCharCode(Number.parseInt(piece.slice(0, 2), 16)) + piece.slice(2)
  }
  return Buffer.from(latin1, 'latin1')
}

/** @returns `undefined` for an unknown charset or bytes that it does not have. */
function decodeBytes(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // A RangeError or TypeError that knows nothing but this.
    return undefined
  }
}
