/**
 * Values of header fields, read and written: parameters, boundaries of forms, names of files that
 * are saved, and structured fields.
 * @module
 */

import { HttpError } from './http-error.ts'

/** The value of a parameter; bytes as latin1. */
export interface HeaderParameter {
  readonly text: string
  readonly isQuoted: boolean
}

/** A header value, taken apart. */
export interface ParameterizedValue {
  /** In lower case. */
  readonly value: string
  /** By names in lower case. */
  readonly parameters: ReadonlyMap<string, HeaderParameter>
}

// A quote ends a quoted value only before a semicolon or the end, since there are clients that do
// not escape the quotes of a file name. A parameter may be empty: `a; ; b=c`.
const PARAMETER =
  /;[ \t]*(?:([^\s"=;,]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^]|"(?![ \t]*(?:;|$)))*)"|([^;"][^;]*)?))?[ \t]*/y

/**
 * Takes a value with parameters apart: `form-data; name="a"; filename=b`, RFC 9110 section 5.6.6.
 *
 * Reads what is meant rather than what is allowed where that cannot be mistaken: blanks around the
 * equals sign, values without quotes that are not tokens, quotes inside a quoted value. Refuses
 * parameters given twice, which two readers could take for different things. Takes linear time.
 *
 * @param text Bytes as latin1, as Node hands headers out.
 * @returns `undefined` when the text is malformed.
 */
export function parseParameters(text: string): ParameterizedValue | undefined {
  const end = text.indexOf(';')
  if (end === -1) return { value: trimBlanks(text).toLowerCase(), parameters: new Map() }
  const parameters = new Map<string, HeaderParameter>()
  PARAMETER.lastIndex = end
  while (PARAMETER.lastIndex < text.length) {
    const match = PARAMETER.exec(text)
    if (match === null) return undefined
    const [, name, quoted, plain = ''] = match
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) return undefined
    parameters.set(key, readValue(quoted, plain))
  }
  return { value: trimBlanks(text.slice(0, end)).toLowerCase(), parameters }
}

/** Without the blanks and tabs around it; a regular expression would take quadratic time. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * A backslash escapes only what needs it: in `"C:\new\photo.png"`, as old browsers write, it
 * stands for itself.
 */
function readValue(quoted: string | undefined, plain: string): HeaderParameter {
  if (quoted === undefined) return { text: trimBlanks(plain), isQuoted: false }
  return { text: quoted.replace(/\\(["\\])/g, '$1'), isQuoted: true }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

const MAX_BOUNDARY_LENGTH = 70

// The alphabet of RFC 2046, and the rest of what HTTP calls a token: `*****` was in the sample
// that half of the Android uploads were copied from. Not a blank at the end, which a relay may
// have added or removed.
const BOUNDARY = /^[A-Za-z0-9'()+_,./:=?!#$%&*^`|~ -]+(?<! )$/

/**
 * Reads the boundary that a `Content-Type` announces: RFC 7578 section 4.1, RFC 2046 section
 * 5.1.1.
 *
 * @throws {HttpError} `MULTIPART_BOUNDARY` when the type is another one, or the boundary is
 *   missing, empty, longer than 70 characters or malformed.
 */
export function parseBoundary(contentType: string): string {
  const parsed = parseParameters(contentType)
  if (parsed === undefined) throw refusal('the parameters are malformed')
  if (parsed.value !== 'multipart/form-data') throw refusal('the type is not multipart/form-data')
  const boundary = parsed.parameters.get('boundary')?.text ?? ''
  if (boundary === '') throw refusal('there is none')
  if (boundary.length > MAX_BOUNDARY_LENGTH) {
    throw refusal(`at most ${MAX_BOUNDARY_LENGTH} characters`)
  }
  if (!BOUNDARY.test(boundary)) throw refusal('it has characters that no boundary may have')
  return boundary
}

function refusal(detail: string): HttpError {
  return new HttpError('MULTIPART_BOUNDARY', detail)
}

/**
 * The `Content-Disposition` of a file that a browser is to save and never to show: RFC 6266, RFC
 * 8187. Any name gives one header: nothing of it can break out.
 *
 * @example
 * ```ts
 * attachment('Übersicht.pdf')
 * // attachment; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf
 * ```
 */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/gu, '_')
  const quoted = `attachment; filename="${plain}"`
  return plain === name ? quoted : `${quoted}; filename*=UTF-8''${encodeExtended(name)}`
}

/** RFC 8187 has fewer characters that stand for themselves than URLs have. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Parameters of structured fields, RFC 9651: they are allowed, and mean nothing here. */
const PARAMETERS = /(?:; *[a-z*][a-z0-9_.*-]*(?:=[^;,]*)?)*/.source

const BOOLEAN = new RegExp(`^\\?([01])${PARAMETERS}$`)

/** Fifteen digits at most; a field that counts bytes is never negative. */
const COUNT = new RegExp(`^(\\d{1,15})${PARAMETERS}$`)

const BYTES_MEMBER = new RegExp(`^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):${PARAMETERS}$`)

/** Characters of a dictionary; the digests of all algorithms take a third of it. */
const MAX_DICTIONARY = 2048

/** The value of a field as Node gives it: of several lines, one text with commas. */
type FieldValue = string | readonly string[] | undefined

/** The boolean in a structured field; `undefined` when it has none. */
export function parseBooleanField(value: FieldValue): boolean | undefined {
  const [, digit] = BOOLEAN.exec(String(value).trim()) ?? []
  return digit === undefined ? undefined : digit === '1'
}

/** The integer in a structured field, 0 or more; `undefined` when it has none. */
export function parseCountField(value: FieldValue): number | undefined {
  const [, digits] = COUNT.exec(String(value).trim()) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/**
 * The bytes under a key of a dictionary whose values are bytes; `undefined` when there are none,
 * and when the field is something else or too long.
 */
export function parseBytesMember(value: FieldValue, key: string): Uint8Array | undefined {
  const text = String(value)
  if (text.length > MAX_DICTIONARY) return undefined
  let found: string | undefined
  for (const member of text.split(',')) {
    const [, name, base64] = BYTES_MEMBER.exec(member.trim()) ?? []
    if (name === undefined) return undefined
    // The last one of several counts.
    if (name === key) found = base64
  }
  return found === undefined ? undefined : Buffer.from(found, 'base64')
}

/** A boolean as a structured field has it. */
export function formatBooleanField(value: boolean): string {
  return value ? '?1' : '?0'
}
