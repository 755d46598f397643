/** Data names: what a client calls the bytes of an item. A wire name, never a path. @module */

import { isLongerThan } from './text-length.ts'

/** The longest name of the usual file systems, so that a pushed file can keep its name. */
export const MAX_DATA_NAME_BYTES = 255

// The C0 and C1 controls, separators of every platform, and line separators that terminals obey.
// Not more: bidi and invisible characters are part of names that people give, and the contract
// allows them. Whoever prints or saves a name takes them out.
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\\u2028\u2029]/
const ALL_FORBIDDEN = new RegExp(FORBIDDEN, 'g')

/** Whether `name` may name bytes on the wire. */
export function isDataName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  if (name.length > MAX_DATA_NAME_BYTES) return false
  if (FORBIDDEN.test(name) || !name.isWellFormed()) return false
  return !isLongerThan(name, MAX_DATA_NAME_BYTES)
}

/** A data name for a file of this name: what may not be on the wire becomes `_`. */
export function toDataName(fileName: string): string {
  const name = fileName.toWellFormed().replaceAll(ALL_FORBIDDEN, '_')
  return isDataName(name) ? name : 'clipboard.bin'
}
