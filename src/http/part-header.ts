/**
 * The header of one part of a form: RFC 7578 section 4.
 *
 * Only what matters to a reader of forms is looked at; other fields may say what they like. Names
 * are given as they were sent: whether a file may be called so is for the caller to say.
 *
 * Refuses whatever could make two readers see two things: bare CR or LF, other control characters,
 * lines that are no field, a field that matters or a parameter given twice. A line that begins with
 * a blank goes on with the one before it: unlike HTTP, RFC 5322 section 2.2.3 allows that, mail
 * libraries do it to long names, and it cannot begin another field. Nested forms are refused, and
 * bodies that would have to be decoded.
 * @module
 */

import { parseParameters, trimBlanks, type ParameterizedValue } from './header-parameters.ts'
import { HttpError } from './http-error.ts'
import { decodeExtended, decodeName, decodeText } from './part-name.ts'

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
    throw new HttpError('UNSUPPORTED_ENCODING', { detail: 'a part is encoded' })
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
  const text = Buffer.from(block.buffer, block.byteOffset, block.length).toString('latin1')
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
  return new HttpError('MULTIPART_MALFORMED', { detail })
}
