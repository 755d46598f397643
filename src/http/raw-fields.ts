/**
 * Looks at header fields as they came, before Node makes an object of them. Most requests are polls
 * whose few fields decide nothing, and never need that object.
 *
 * @module
 */

/** Names and values in turn. */
export type RawFields = readonly string[]

/** Fields that decide whether there is a body, what it is, and what becomes of the connection. */
const DECISIVE: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-range',
  'expect',
  'transfer-encoding',
  'upgrade',
])

/** Whether a request says of itself more than what it asks for: it has such a field, or a condition. */
export function hasDecisiveFields(fields: RawFields): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    // Their first letters: few other names begin so, and need not be put in small letters.
    const first = name.charCodeAt(0) | 0x20
    if (first !== C && first !== E && first !== I && first !== T && first !== U) continue
    const small = name.toLowerCase()
    if (small.startsWith('if-') || DECISIVE.has(small)) return true
  }
  return false
}

const [C = 0, E = 0, I = 0, T = 0, U = 0] = Buffer.from('ceitu')

/** The value of the first field of a name, which is given in small letters. */
export function findField(fields: RawFields, name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    const other = fields[index]
    if (other?.length === name.length && other.toLowerCase() === name) return fields[index + 1]
  }
  return undefined
}

/** How many fields have a name, which is given in small letters. */
export function countFields(fields: RawFields, name: string): number {
  let count = 0
  for (let index = 0; index < fields.length; index += 2) {
    const other = fields[index]
    if (other?.length === name.length && other.toLowerCase() === name) count += 1
  }
  return count
}
