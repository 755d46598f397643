/**
 * Items of structured fields, RFC 9651: booleans and integers. Parameters are allowed, and mean
 * nothing here.
 * @module
 */

const PARAMETERS = /(?:; *[a-z*][a-z0-9_.*-]*(?:=[^;,]*)?)*/.source

const BOOLEAN = new RegExp(`^ *\\?([01])${PARAMETERS} *$`)

/** Fifteen digits at most; a field that counts bytes is never negative. */
const COUNT = new RegExp(`^ *(\\d{1,15})${PARAMETERS} *$`)

/** The value of a field as Node gives it: of several lines, one text with commas. */
type FieldValue = string | readonly string[] | undefined

/** The boolean in a field; `undefined` when there is none, or something else. */
export function parseBooleanField(value: FieldValue): boolean | undefined {
  const [, digit] = BOOLEAN.exec(String(value)) ?? []
  return digit === undefined ? undefined : digit === '1'
}

/** The integer in a field, 0 or more; `undefined` when there is none, or something else. */
export function parseCountField(value: FieldValue): number | undefined {
  const [, digits] = COUNT.exec(String(value)) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** A boolean as a field has it. */
export function formatBooleanField(value: boolean): string {
  return value ? '?1' : '?0'
}
