/**
 * Reads the fields of JSON bodies the way clients write them.
 *
 * Keys count in any letter case. Where one key occurs in several spellings the camelCase one wins,
 * and among equals the last one. Unknown keys are ignored and `null` counts as absent.
 *
 * @module
 */

import { HttpError } from '../../http/http-error.ts'

/** Decoded fields under their lower-case names. */
export type Fields = ReadonlyMap<string, unknown>

interface FieldKinds {
  string: string
  boolean: boolean
  number: number
}

/**
 * The fields of a decoded JSON body that `names` (in camelCase) list.
 *
 * @throws {HttpError} `BAD_BODY` when the body is not an object.
 */
export function pickFields(body: unknown, names: readonly string[]): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new HttpError('BAD_BODY', { detail: 'expected a JSON object' })
  }
  const spellings = new Map(names.map((name) => [name.toLowerCase(), name]))
  const fields = new Map<string, unknown>()
  const settled = new Set<string>()
  const longest = Math.max(...names.map((name) => name.length))
  // Keys first: a hostile body has hundreds of thousands, whose values nobody needs.
  for (const key of Object.keys(body)) {
    if (key.length > longest) continue
    const name = key.toLowerCase()
    const spelling = spellings.get(name)
    if (spelling === undefined) continue
    const value: unknown = Reflect.get(body, key)
    if (value === null) continue
    if (key === spelling) settled.add(name)
    else if (settled.has(name)) continue
    fields.set(name, value)
  }
  return fields
}

/**
 * One field, or `fallback` when it is absent.
 *
 * @throws {HttpError} `BAD_BODY`, naming the field, when it is of another JSON type.
 */
export function readField<Kind extends keyof FieldKinds, Fallback>(
  fields: Fields,
  name: string,
  kind: Kind,
  fallback: Fallback,
): FieldKinds[Kind] | Fallback {
  const value = fields.get(name.toLowerCase())
  if (value === undefined) return fallback
  if (typeof value !== kind) {
    throw new HttpError('BAD_BODY', { detail: `"${name}" must be a ${kind}` })
  }
  // Proven by the line above; TypeScript cannot relate a `typeof` string to Kind.
  return value as FieldKinds[Kind]
}
