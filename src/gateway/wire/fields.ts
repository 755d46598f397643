/**
 * Picks known fields out of bodies, the way clients write them.
 *
 * Names count in any letter case. Where one occurs in several spellings the camelCase one wins,
 * and among equals the last one. What is unknown is left alone, and in JSON, `null` counts as
 * absent.
 * @module
 */

import { isDataName, ITEM_TYPES, type ItemType, parseItemType } from '../../core/item.ts'
import { KIB } from '../../core/limits.ts'
import { badBody, HttpError } from '../../http/http-error.ts'
import { endOfPiece } from '../../lib/long-text.ts'

/** Fields under their lower-case names. */
export type Fields = ReadonlyMap<string, unknown>

/** Keeps the wanted ones of the fields that it is shown. */
export class FieldPicker {
  readonly longestName: number
  readonly #spellings: ReadonlyMap<string, string>
  readonly #settled = new Set<string>()
  readonly #fields = new Map<string, unknown>()

  /** @param names In camelCase. */
  constructor(names: readonly string[]) {
    this.#spellings = new Map(names.map((name) => [name.toLowerCase(), name]))
    this.longestName = Math.max(...names.map((name) => name.length))
  }

  get fields(): Fields {
    return this.#fields
  }

  /** Whether this is one of the names. Cheap: a hostile body has hundreds of thousands. */
  wants(name: string): boolean {
    return name.length <= this.longestName && this.#spellings.has(name.toLowerCase())
  }

  add(name: string, value: unknown): void {
    const key = name.toLowerCase()
    if (name === this.#spellings.get(key)) this.#settled.add(key)
    else if (this.#settled.has(key)) return
    this.#fields.set(key, value)
  }
}

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
    throw badBody('expected a JSON object')
  }
  const picker = new FieldPicker(names)
  // Keys first: a hostile body has hundreds of thousands, whose values nobody needs.
  for (const key of Object.keys(body)) {
    if (!picker.wants(key)) continue
    const value: unknown = Reflect.get(body, key)
    if (value !== null) picker.add(key, value)
  }
  return picker.fields
}

/** Longer than any name, and than the text that stays with a file. */
const START_BYTES: number = 64 * KIB

/** Whether it is a text that was too long to be made a string: its bytes in UTF-8. */
export function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array
}

/**
 * One field, or `fallback` when it is absent. Of a text that is bytes, the beginning.
 *
 * @throws {HttpError} `BAD_BODY`, naming the field, when it is of another JSON type.
 */
export function fieldOf<Kind extends keyof FieldKinds, Fallback>(
  fields: Fields,
  name: string,
  kind: Kind,
  fallback: Fallback,
): FieldKinds[Kind] | Fallback {
  const value = fields.get(name.toLowerCase())
  if (value === undefined) return fallback
  if (kind === 'string' && isBytes(value)) {
    const start = value.subarray(0, endOfPiece(value, 0, START_BYTES))
    return String(Buffer.from(start)) as FieldKinds[Kind]
  }
  if (typeof value !== kind) {
    throw badBody(`"${name}" must be a ${kind}`)
  }
  // Proven by the line above; TypeScript cannot relate a `typeof` string to Kind.
  return value as FieldKinds[Kind]
}

/**
 * The item type of a name, in any letter case.
 *
 * @throws {HttpError} `BAD_BODY`.
 */
export function toItemType(name: string): ItemType {
  const type = parseItemType(name)
  if (type !== undefined) return type
  throw badBody(`"type" must be one of ${ITEM_TYPES.join(', ')}`)
}

/** Checks a data name, which may be empty. @throws {HttpError} `BAD_NAME`. */
export function toDataName(name: string): string {
  if (name === '' || isDataName(name)) return name
  throw new HttpError('BAD_NAME', '"dataName" is not a plain file name')
}
