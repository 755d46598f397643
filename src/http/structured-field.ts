/**
 * Structured fields, RFC 9651: booleans, integers, and dictionaries of bytes. Parameters are
 * allowed, and mean nothing here.
 * @module
 */

const PARAMETERS = /(?:; *[a-z*][a-z0-9_.*-]*(?:=[^;,]*)?)*/.source

const BOOLEAN = new RegExp(`^\\?([01])${PARAMETERS}$`)

/** Fifteen digits at most; a field that counts bytes is never negative. */
const COUNT = new RegExp(`^(\\d{1,15})${PARAMETERS}$`)

const BYTES_MEMBER = new RegExp(`^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):${PARAMETERS}$`)

/** Characters of a dictionary; the digests of all algorithms take a third of it. */
const MAX_DICTIONARY = 2048

/** The value of a field as Node gives it: of several lines, one text with commas. */
type FieldValue = string | readonly string[] | undefined

/** The boolean in a field; `undefined` when there is none, or something else. */
export function parseBooleanField(value: FieldValue): boolean | undefined {
  const [, digit] = BOOLEAN.exec(String(value).trim()) ?? []
  return digit === undefined ? undefined : digit === '1'
}

/** The integer in a field, 0 or more; `undefined` when there is none, or something else. */
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

/** A boolean as a field has it. */
export function formatBooleanField(value: boolean): string {
  return value ? '?1' : '?0'
}
