/**
 * JSON that has a long text in it, as bytes in pieces.
 *
 * The JSON of the text is made once for each object that has it, for as long as that is there: all
 * that is encoded of it has the same bytes.
 * @module
 */

import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'

/** Bytes in pieces, of which others may have some too: those are in memory once. */
export interface Pieces {
  readonly pieces: readonly Uint8Array[]
  /** Bytes of all pieces. */
  readonly length: number
  /** No others have them, and who has them has counted them. */
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

const ENCODED_PLACE: string = JSON.stringify(PLACE)

/** Characters that are encoded in one go, which takes a few milliseconds. */
const PIECE_LENGTH: number = 1024 * 1024

const encoder = new TextEncoder()

/** The JSON of each long text, by what has it. */
const texts = new WeakMap<WithText, Uint8Array>()

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
  const { length } = subject.text
  if (length <= LONG_TEXT) return encode(subject, length)
  const text = texts.get(subject) ?? Buffer.concat([...encodeText(subject.text)])
  texts.set(subject, text)
  const parts = encode({ ...subject, text: PLACE }, length).split(ENCODED_PLACE)
  return pieced(parts.flatMap((part) => [text, encoder.encode(part)]).slice(1))
}

/** Bytes of the JSON of the text of a subject; `undefined` before it is made. */
export function preparedBytes(subject: WithText): number | undefined {
  return texts.get(subject)?.length
}

/**
 * Does the work that {@link encodeWithText} would do first, and lets others have their turn.
 *
 * @param most Bytes of the JSON of the text, with its quotes.
 * @returns Whether it has no more; otherwise the work was given up.
 */
export async function prepareText(subject: WithText, most: number = Infinity): Promise<boolean> {
  if (subject.text.length <= LONG_TEXT) {
    return most === Infinity || Buffer.byteLength(JSON.stringify(subject.text)) <= most
  }
  const known = texts.get(subject)
  if (known !== undefined) return known.length <= most
  let length = 2
  for (const part of partsOf(subject.text)) {
    length += Buffer.byteLength(JSON.stringify(part)) - 2
    if (length > most) return false
    await turn()
  }
  // In the place where it stays: pieces that are joined would take as much again.
  const bytes = new Uint8Array(length)
  let end = 0
  for (const piece of encodeText(subject.text)) {
    bytes.set(piece, end)
    end += piece.length
    await turn()
  }
  texts.set(subject, bytes)
  return true
}

/**
 * Encodes the text of a subject, and lets others have their turn. Where nothing in its JSON is
 * escaped, which is there already, the bytes are those of that.
 *
 * @param size How many there are.
 */
export async function utf8Of(subject: WithText, size: number): Promise<Uint8Array> {
  const json = texts.get(subject)
  if (json?.length === size + 2) return json.subarray(1, -1)
  const bytes = new Uint8Array(size)
  let length = 0
  for (const part of partsOf(subject.text)) {
    length += encoder.encodeInto(part, bytes.subarray(length)).written
    if (length < size) await turn()
  }
  return bytes
}

/** The JSON of a text, with its quotes. */
function* encodeText(text: string): Generator<Uint8Array, void> {
  yield encoder.encode('"')
  for (const part of partsOf(text)) yield encoder.encode(JSON.stringify(part).slice(1, -1))
  yield encoder.encode('"')
}

function* partsOf(text: string): Generator<string, void> {
  for (let start = 0; start < text.length; ) {
    const last = text.charCodeAt(start + PIECE_LENGTH - 1)
    // Both halves of a character stay together: each by itself would be escaped.
    const isHalf = last >= 0xd800 && last <= 0xdbff
    const end = start + PIECE_LENGTH - (isHalf ? 1 : 0)
    yield text.slice(start, end)
    start = end
  }
}
