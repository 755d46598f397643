/**
 * Decodes JSON values into precise types: small decoders, put together.
 *
 * A decoder returns what it was given, as its type, or throws a `TypeError` that says where and
 * what, and quotes nothing: values may be secrets. Unknown members are left out; `null` counts as
 * absent.
 * @module
 */

/**
 * Returns `value` as its type.
 *
 * @param path Where the value stands, for the message: `devices[2].label`.
 * @throws {TypeError} when the value has another type.
 */
export type Decoder<Value> = (value: unknown, path?: string) => Value

type Shape = Readonly<Record<string, Decoder<unknown>>>

export const decodeString: Decoder<string> = (value, path) => {
  if (typeof value === 'string') return value
  throw wrong(path, 'a string')
}

export const decodeNumber: Decoder<number> = (value, path) => {
  if (typeof value === 'number') return value
  throw wrong(path, 'a number')
}

export const decodeBoolean: Decoder<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value
  throw wrong(path, 'a boolean')
}

/** Decodes an absent value or `null` to `undefined`, and every other value by `decode`. */
export function optional<Value>(decode: Decoder<Value>): Decoder<Value | undefined> {
  return (value, path) => (value === undefined || value === null ? undefined : decode(value, path))
}

/** Decodes one of the given strings. */
export function oneOf<const Name extends string>(names: readonly Name[]): Decoder<Name> {
  return (value, path) => {
    const name = names.find((candidate) => candidate === value)
    if (name !== undefined) return name
    throw wrong(path, `one of ${names.join(', ')}`)
  }
}

/** Decodes an array by decoding each entry. */
export function arrayOf<Value>(decode: Decoder<Value>): Decoder<readonly Value[]> {
  return (value, path = 'value') => {
    if (!Array.isArray(value)) throw wrong(path, 'an array')
    return value.map((entry: unknown, index) => decode(entry, `${path}[${index}]`))
  }
}

/** Decodes an object by decoding the given members; other members are left out. */
export function objectOf<const Members extends Shape>(
  members: Members,
): Decoder<{ readonly [Name in keyof Members]: ReturnType<Members[Name]> }> {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw wrong(path, 'an object')
    const own = new Map<string, unknown>(Object.entries(value))
    const decoded = Object.entries(members).map(([name, decode]) => {
      return [name, decode(own.get(name), path === undefined ? name : `${path}.${name}`)]
    })
    // Each member was made by the decoder of its name.
    return Object.fromEntries(decoded) as { [Name in keyof Members]: ReturnType<Members[Name]> }
  }
}

/** Decodes by `decode`, and accepts only values that `fits`; `expected` says which those are. */
export function matching<Value>(
  decode: Decoder<Value>,
  fits: (value: Value) => boolean,
  expected: string,
): Decoder<Value> {
  return (value, path) => {
    const decoded = decode(value, path)
    if (fits(decoded)) return decoded
    throw wrong(path, expected)
  }
}

function wrong(path = 'value', expected: string): TypeError {
  return new TypeError(`"${path}" must be ${expected}`)
}
