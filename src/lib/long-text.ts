/**
 * Long texts, which are kept as bytes: those of their JSON, of which all that is encoded has the
 * same. A string would take twice as much beside them, and stay until V8 looks at all it has.
 * @module
 */

import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'

/** Bytes in pieces, of which others may have some too: those are in memory once. */
export interface Pieces {
  readonly pieces: readonly Uint8Array[]
  /** Bytes of all pieces. */
  readonly length: number
  /** Each answer that has them has counted them. */
  readonly isOwn?: true
}

interface WithText {
  readonly text: string
}

/**
 * A shorter text is copied faster than it is written in pieces. Each character may take six bytes,
 * and thousands of answers may have the text at the same time.
 */
const LONG_TEXT = 4 * 1024

/** Stands for a long text. Nobody can guess it, and have it in another field. */
const PLACE: string = randomUUID()

/** Bytes that are looked at in one go, which takes a few milliseconds. */
const PIECE_BYTES: number = 256 * 1024

/** The longest that an escape can be: `\u00e9`. */
const ESCAPE_BYTES = 6

/** The longest that a character can be in UTF-8. */
const CHARACTER_BYTES = 4

const BACKSLASH = 0x5c

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Bytes that each byte of UTF-8 becomes in JSON. */
const JSON_BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).length - 2 : 1,
)

/** How long a text is. */
export interface TextLength {
  /** Units of UTF-16. */
  readonly length: number
  /** Bytes of its JSON, without the quotes. */
  readonly jsonLength: number
}

interface LongText {
  /** Without the quotes. */
  readonly json: Uint8Array
  /** Units of UTF-16 of the text. */
  readonly length: number
}

/** The long texts, by what has them. */
const texts = new WeakMap<WithText, LongText>()

/** Joins pieces; none of them may change any more. */
export function pieced(pieces: readonly Uint8Array[]): Pieces {
  return { pieces, length: pieces.reduce((sum, { length }) => sum + length, 0) }
}

/**
 * Encodes what has a text.
 *
 * @param encode Gives JSON that has the text as it is, once or several times. Is told how many
 *   units of UTF-16 that has: the text may be another one.
 * @returns Pieces when the text is long.
 */
export function encodeWithText<Subject extends WithText>(
  subject: Subject,
  encode: (subject: Subject, textLength: number) => string,
): string | Pieces {
  const length = lengthOf(subject)
  if (length <= LONG_TEXT) return encode(subject, length)
  const { json } = texts.get(subject) ?? encodeNow(subject)
  const parts = encode(withChanges(subject, { text: PLACE }), length).split(PLACE)
  return pieced(parts.flatMap((part) => [json, encoder.encode(part)]).slice(1))
}

/** Units of UTF-16 of the text of a subject. */
export function lengthOf(subject: WithText): number {
  return texts.get(subject)?.length ?? subject.text.length
}

/** A copy with other members, for which no long text is decoded, theirs included. */
export function withChanges<Subject extends WithText, Changes extends object>(
  subject: Subject,
  changes: Changes,
): Subject & Changes {
  const members = {
    ...Object.getOwnPropertyDescriptors(subject),
    ...Object.getOwnPropertyDescriptors(changes),
  }
  // It has the members of both.
  const copy = Object.defineProperties({}, members) as Subject & Changes
  const text = texts.get('text' in changes ? (changes as WithText) : subject)
  if (text !== undefined) texts.set(copy, text)
  return copy
}

/** Bytes of the JSON of the text of a subject, with its quotes; `undefined` before it is made. */
export function preparedBytes(subject: WithText): number | undefined {
  const text = texts.get(subject)
  return text && text.json.length + 2
}

/**
 * Does the work that {@link encodeWithText} would do first, and lets others have their turn. The
 * string of a long text is not needed after that: it is made again for whoever reads it.
 *
 * @param most Bytes of the JSON of the text, with its quotes.
 * @param utf8 The text where it came as bytes, as to {@link withText}.
 * @returns Whether it has no more; otherwise the work was given up.
 */
export async function prepareText(
  subject: WithText,
  most: number = Infinity,
  utf8?: Uint8Array,
): Promise<boolean> {
  const known = preparedBytes(subject)
  if (known !== undefined) return known <= most
  utf8 ??= encoder.encode(subject.text)
  const length = await measureText(utf8, most - 2)
  if (length !== undefined && length.length > LONG_TEXT) await keepText(subject, utf8, length)
  return length !== undefined
}

/** Has an object of its own for a text. @param utf8 Handed over: nobody may change it any more. */
export async function withText(utf8: Uint8Array, length: TextLength): Promise<WithText> {
  if (length.length <= LONG_TEXT) return { text: decoder.decode(utf8) }
  const subject = { text: '' }
  await keepText(subject, utf8, length)
  return subject
}

/** Measures a text, and lets others have their turn. @returns `undefined` above `most` of JSON. */
export async function measureText(
  utf8: Uint8Array,
  most: number = Infinity,
): Promise<TextLength | undefined> {
  let [length, jsonLength] = [0, 0]
  for (let at = 0; at < utf8.length && jsonLength <= most; ) {
    for (const end = Math.min(at + PIECE_BYTES, utf8.length); at < end; at++) {
      const byte = utf8[at] ?? 0
      // Only the first byte of a character counts; those of four have two units.
      if (byte < 0x80 || byte >= 0xc0) length += byte < 0xf0 ? 1 : 2
      jsonLength += JSON_BYTES[byte] ?? 1
    }
    if (at < utf8.length) await turn()
  }
  return jsonLength > most ? undefined : { length, jsonLength }
}

async function keepText(
  subject: WithText,
  utf8: Uint8Array,
  { length, jsonLength }: TextLength,
): Promise<void> {
  const json = jsonLength === utf8.length ? utf8 : await escaped(utf8, jsonLength)
  // A short text in a long body would keep all of that, and may be kept for hours.
  const isPart = json.buffer.byteLength > 2 * json.length
  texts.set(subject, { json: isPart ? new Uint8Array(json) : json, length })
  dropString(subject)
}

/** Has a subject give its string up for the bytes of another one that has the same text. */
export function shareText(subject: WithText, other: WithText): void {
  const text = texts.get(other)
  if (text === undefined || text.length !== lengthOf(subject)) return
  texts.set(subject, text)
  dropString(subject)
}

function dropString(subject: WithText): void {
  const get = (): string => [...textOf(subject)].join('')
  Object.defineProperty(subject, 'text', { get, enumerable: true })
}

async function escaped(utf8: Uint8Array, jsonLength: number): Promise<Uint8Array> {
  const json = new Uint8Array(jsonLength)
  let written = 0
  for (let start = 0; start < utf8.length; await turn()) {
    const end = endOfPiece(utf8, start, PIECE_BYTES)
    const part = JSON.stringify(decoder.decode(utf8.subarray(start, end))).slice(1, -1)
    written += encoder.encodeInto(part, json.subarray(written)).written
    start = end
  }
  return json
}

/** The text of a subject in pieces, between whole characters. */
export function* textOf(subject: WithText): Generator<string, void> {
  const known = texts.get(subject)
  if (known === undefined) return yield subject.text
  const { json } = known
  for (let start = 0; start < json.length; ) {
    const end = endOfPiece(json, start, PIECE_BYTES)
    const piece = decoder.decode(json.subarray(start, end))
    yield piece.includes('\\') ? String(JSON.parse(`"${piece}"`)) : piece
    start = end
  }
}

/** The beginning of the text of a subject: all of a short one. */
export function startOf(subject: WithText): string {
  const [first = ''] = textOf(subject)
  return first
}

/**
 * Encodes the text of a subject, and lets others have their turn. Where nothing in its JSON is
 * escaped, which is there already, the bytes are those of that.
 *
 * @param size How many there are.
 */
export async function utf8Of(subject: WithText, size: number): Promise<Uint8Array> {
  const known = texts.get(subject)
  if (known?.json.length === size) return known.json
  const bytes = new Uint8Array(size)
  let length = 0
  for (const part of textOf(subject)) {
    length += encoder.encodeInto(part, bytes.subarray(length)).written
    if (length < size) await turn()
  }
  return bytes
}

/** Where neither a character nor an escape of JSON is cut. @param most Bytes of a piece, 16 up. */
export function endOfPiece(bytes: Uint8Array, start: number, most: number): number {
  let end = start + most
  if (end >= bytes.length) return bytes.length
  for (let back = 1; back < CHARACTER_BYTES && isContinuation(bytes[end]); back++) end--
  for (let at = end - 1; at > end - ESCAPE_BYTES; at--) {
    if (bytes[at] !== BACKSLASH) continue
    let first = at
    while (first > start && bytes[first - 1] === BACKSLASH) first--
    // The last of an even number of them is escaped by the one before it.
    return (at - first) % 2 === 0 ? at : end
  }
  return end
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** For whoever did not wait for {@link prepareText}. */
function encodeNow(subject: WithText): LongText {
  const { text } = subject
  const json = encoder.encode(JSON.stringify(text)).subarray(1, -1)
  const made = { json, length: text.length }
  texts.set(subject, made)
  return made
}
