/**
 * Reads the fields of JSON bodies the way clients write them. `null` counts as absent; for what
 * becomes of names, see `field-picker.ts`.
 * @module
 */

import { HttpError } from '../../http/http-error.ts'
import { FieldPicker, type Fields } from './field-picker.ts'

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
  const picker = new FieldPicker<unknown>(names)
  // Keys first: a hostile body has hundreds of thousands, whose values nobody needs.
  for (const key of Object.keys(body)) {
    if (!picker.wants(key)) continue
    const value: unknown = Reflect.get(body, key)
    if (value !== null) picker.add(key, value)
  }
  return picker.fields
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
