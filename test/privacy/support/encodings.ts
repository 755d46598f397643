/**
 * The spellings in which a secret could hide from a search for it.
 * @module
 */

export interface Encoding {
  readonly name: string
  /** Whether letter case counts. */
  readonly isExact: boolean
  /** As much of the encoding as depends on nothing but `text`, whatever stands around it. */
  readonly encode: (text: string) => string
}

const BASE64: readonly Encoding[] = [0, 1, 2].map((before) => base64('base64', before, (it) => it))

const HEX: Encoding = {
  name: 'hex',
  isExact: false,
  encode: (text) => Buffer.from(text).toString('hex'),
}

export const ENCODINGS: readonly Encoding[] = [
  { name: 'plain', isExact: false, encode: (text) => text },
  HEX,
  { name: 'numbers', isExact: false, encode: (text) => [...Buffer.from(text)].join(',') },
  escaped('percent-encoded', (hex) => `%${hex}`),
  escaped('escaped as \\x', (hex) => `\\x${hex}`),
  escaped('escaped as \\u', (hex) => `\\u00${hex}`),
  escaped('escaped as \\u{}', (hex) => `\\u{${hex}}`),
  ...BASE64,
  ...[0, 1, 2].map((before) => {
    return base64('base64url', before, (it) => it.replaceAll('+', '-').replaceAll('/', '_'))
  }),
  // Credentials are in base64 already, and somebody may encode that.
  ...BASE64.flatMap((inner) => [HEX, ...BASE64].map((outer) => twice(inner, outer))),
]

/** What is searched: the bytes, and what is left without blanks and the zeros of UTF-16. */
export function viewsOf(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const squeezed = text.replace(/[\0\s]+/g, '')
  return squeezed === text ? [text] : [text, squeezed]
}

function twice(inner: Encoding, outer: Encoding): Encoding {
  return {
    name: `${inner.name}, in ${outer.name}`,
    isExact: outer.isExact,
    encode: (text) => outer.encode(inner.encode(text)),
  }
}

function escaped(name: string, spell: (hex: string) => string): Encoding {
  const encode = (text: string): string => {
    return [...Buffer.from(text)].map((byte) => spell(byte.toString(16).padStart(2, '0'))).join('')
  }
  return { name, isExact: false, encode }
}

/** @param before How many bytes of a group of three stand before the text. */
function base64(name: string, before: number, spell: (text: string) => string): Encoding {
  const encode = (text: string): string => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    // A character stands for six bits.
    const first = Math.ceil((8 * before) / 6)
    const end = Math.floor((8 * bytes.length) / 6)
    return spell(bytes.toString('base64').slice(first, end))
  }
  return { name: `${name}, ${before} bytes before`, isExact: true, encode }
}
