/** Writes DER, as much of it as certificates need: ITU-T X.690. @module */

/** Numbers of the universal tags: X.680 section 8.6. */
const TAGS = { integer: 2, bits: 3, octets: 4, oid: 6, text: 12, sequence: 0x30, set: 0x31 }

/** One value with its tag and its length. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body])
}

/** A value whose tag a type gives its own meaning: of other values, or of plain bytes. */
export function context(number: number, body: Uint8Array | readonly Uint8Array[]): Buffer {
  return body instanceof Uint8Array ? tagged(0x80 | number, body) : tagged(0xa0 | number, ...body)
}

/** A SEQUENCE. */
export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(TAGS.sequence, ...parts)
}

/** A SET. */
export function set(...parts: readonly Uint8Array[]): Buffer {
  return tagged(TAGS.set, ...parts)
}

/** An INTEGER that is not negative; big-endian, at least one byte. */
export function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start === -1 ? Buffer.from([0]) : bytes.subarray(start)
  // A first bit that is set would make it negative.
  return tagged(TAGS.integer, Buffer.from((digits[0] ?? 0) >= 0x80 ? [0] : []), digits)
}

/** A BIT STRING; `unused` bits at its end do not count. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(TAGS.bits, Buffer.from([unused]), bytes)
}

/** An OCTET STRING. */
export function octets(bytes: Uint8Array): Buffer {
  return tagged(TAGS.octets, bytes)
}

/** A UTF8String. */
export function text(value: string): Buffer {
  return tagged(TAGS.text, Buffer.from(value))
}

export const TRUE: Uint8Array = tagged(1, Buffer.from([0xff]))

/** An OBJECT IDENTIFIER, from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(TAGS.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** A time of a certificate: UTCTime until 2049, GeneralizedTime from then on: RFC 5280 4.1.2.5. */
export function time(unixMs: number): Buffer {
  const digits = `${new Date(unixMs).toISOString().replace(/\..*|[-:T]/g, '')}Z`
  const isLate = digits >= '2050'
  return tagged(isLate ? 24 : 23, Buffer.from(isLate ? digits : digits.slice(2)))
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

function base128(value: number): readonly number[] {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift(0x80 | (rest % 128))
  }
  return bytes
}
