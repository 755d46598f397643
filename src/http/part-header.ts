/**
 * The header of one part of a form: RFC 7578 section 4.
 *
 * Only what matters to a reader of forms is looked at; other fields may say what they like. Names
 * are given as they were sent, in every spelling that clients have for characters beyond ASCII and
 * for quotes: raw UTF-8 or Latin-1, percent-encoded as browsers do it, RFC 8187, RFC 2047. Whether
 * a file may be called so is for the caller to say.
 *
 * Refuses whatever could make two readers see two things: bare CR or LF, other control characters,
 * lines that are no field, a field that matters or a parameter given twice. A line that begins with
 * a blank goes on with the one before it: unlike HTTP, RFC 5322 section 2.2.3 allows that, mail
 * libraries do it to long names, and it cannot begin another field. Nested forms are refused, and
 * bodies that would have to be decoded, and bytes that look like UTF-8 and are not: overlong forms
 * and surrogates, which some readers take for a slash.
 * @module
 */

import {
  parseParameters,
  trimBlanks,
  type HeaderParameter,
  type ParameterizedValue,
} from './field-values.ts'
import { decodeLatin1 } from '../lib/utf8.ts'
import { HttpError } from './http-error.ts'

/** The header of a part, decoded. */
export interface PartHeader {
  /** Empty when the part has none. */
  readonly name: string
  /** The name of a part that is a file; empty when no file was chosen. */
  readonly fileName: string | undefined
  /** As it was declared. */
  readonly contentType: string | undefined
}

// Any but TAB, and CR and LF when they stand alone.
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/

// RFC 5322, section 2.2: printable, and no colon.
const FIELD_NAME = /^[!-9;-~]+$/

const KNOWN_FIELDS = ['content-disposition', 'content-type', 'content-transfer-encoding']

/** RFC 2045, section 6.2: those that change nothing. */
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary']

// All that WHATWG has browsers encode: HTML section 4.10.21.8.
const BROWSER_ESCAPE = /%(?:22|0[AaDd])/g

// Overlong forms of two, three and four bytes; surrogates.
const FORGED_UTF8 =
  /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]/

const EXTENDED = /^([^']+)'[^']*'([^]*)$/

// RFC 2047, section 2, with the language of RFC 2231.
const ENCODED_WORD = /^=\?([^?*]+)(?:\*[^?]*)?\?([BbQq])\?([^?]*)\?=$/

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Decodes a header.
 *
 * @param block From its first byte to the empty line, which is included.
 * @throws {HttpError} `MULTIPART_MALFORMED`, `MULTIPART_NESTED`, or `UNSUPPORTED_ENCODING` for a
 *   body in base64 and the like.
 */
export function parsePartHeader(block: Uint8Array): PartHeader {
  const fields = parseFields(block)
  const contentType = decodeText(fields.get('content-type') ?? '')
  if (/^multipart\//i.test(contentType)) throw new HttpError('MULTIPART_NESTED')
  const encoding = fields.get('content-transfer-encoding') ?? 'binary'
  if (!PLAIN_ENCODINGS.includes(encoding.toLowerCase())) {
    throw new HttpError('UNSUPPORTED_ENCODING', 'a part is encoded')
  }
  // A part without a disposition has no name. What kind of disposition it is says nothing here.
  const disposition = parseParameters(fields.get('content-disposition') ?? '')
  if (disposition === undefined) throw malformed('a Content-Disposition cannot be read')
  return {
    name: readName(disposition, 'name') ?? '',
    fileName: readName(disposition, 'filename'),
    contentType: contentType === '' ? undefined : contentType,
  }
}

/** The fields that matter, by their names in lower case; bytes as latin1. */
function parseFields(block: Uint8Array): ReadonlyMap<string, string> {
  const text = decodeLatin1(block)
  if (CONTROL.test(text)) throw malformed('a part has control characters in its header')
  const lines = text.replace(/\r\n([ \t])/g, '$1').split('\r\n')
  const fields = new Map<string, string>()
  // The last line is empty, and nothing follows its end.
  for (const line of lines.slice(0, -2)) {
    const colon = line.indexOf(':')
    if (!FIELD_NAME.test(line.slice(0, Math.max(colon, 0)))) {
      throw malformed('a part has a line in its header that is no field')
    }
    const name = line.slice(0, colon).toLowerCase()
    if (!KNOWN_FIELDS.includes(name)) continue
    if (fields.has(name)) throw malformed('a part has a header field twice')
    fields.set(name, trimBlanks(line.slice(colon + 1)))
  }
  return fields
}

/** The extended form of RFC 8187 wins: who sends both made the other one for old readers. */
function readName({ parameters }: ParameterizedValue, key: string): string | undefined {
  const extended = parameters.get(`${key}*`)
  const plain = parameters.get(key)
  const name = extended && decodeExtended(extended.text)
  if (name !== undefined) return name
  if (plain !== undefined) return decodeName(plain)
  // Rather than taking a file for something else because its name cannot be read.
  if (extended !== undefined) throw malformed('an extended name cannot be decoded')
  return undefined
}

function malformed(detail: string): HttpError {
  return new HttpError('MULTIPART_MALFORMED', detail)
}

/** Text in UTF-8, else in Latin-1. */
function decodeText(latin1: string): string {
  const text = decodeBytes(Buffer.from(latin1, 'latin1'), 'utf-8')
  if (text !== undefined) return text
  if (!FORGED_UTF8.test(latin1)) return latin1
  throw malformed('a part has text that is not UTF-8')
}

/** The value of `name` or `filename`. */
function decodeName({ text, isQuoted }: HeaderParameter): string {
  const name = decodeWords(text) ?? decodeText(text)
  return isQuoted ? name.replace(BROWSER_ESCAPE, decodeURIComponent) : name
}

/** The value of `filename*`: `UTF-8''%E2%82%AC.png`. `undefined` when it is malformed. */
function decodeExtended(text: string): string | undefined {
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
