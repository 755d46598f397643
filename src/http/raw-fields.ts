/**
 * Looks at header fields as they came, before Node makes an object of them. Most requests are polls
 * whose few fields decide nothing, and never need that object.
 * @module
 */

import type { FlatHeaders } from './reply.ts'

/** Fields that decide whether there is a body, what it is, and what becomes of the connection. */
const DECISIVE = /^(?:content-(?:encoding|length|range)|expect|if-.*|transfer-encoding|upgrade)$/i

/** Whether a request says more of itself than its target: it has such a field, or a condition. */
export function hasDecisiveFields(fields: FlatHeaders): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    if (DECISIVE.test(fields[index] ?? '')) return true
  }
  return false
}

/** The value of the first field of a name, which is given in lower case. */
export function findField(fields: FlatHeaders, name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    const other = fields[index]
    if (other?.length === name.length && other.toLowerCase() === name) return fields[index + 1]
  }
  return undefined
}

/** How many fields have a name, which is given in lower case. */
export function countFields(fields: FlatHeaders, name: string): number {
  let count = 0
  for (let index = 0; index < fields.length; index += 2) {
    const other = fields[index]
    if (other?.length === name.length && other.toLowerCase() === name) count += 1
  }
  return count
}
