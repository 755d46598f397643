/**
 * Parses JSON that may be long, and keeps nobody waiting for it.
 *
 * What takes long in a long body is its texts: all but short ones are left out, and are parsed a
 * megabyte at a time.
 * @module
 */

import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { badBody } from './http-error.ts'

/** Forty times what any body here has: that of a batch. They take 5 MiB. */
const MAX_VALUES = 20_000

/** Bytes of texts that are parsed in one go, which takes some milliseconds. */
const PIECE_BYTES: number = 1024 * 1024

/** Shorter texts are parsed with what is around them: all that there may be have a megabyte. */
const LONG_TEXT_BYTES = 64

/** Stands for a long text, with a number. Nobody can guess it. */
const PLACE: string = randomUUID()

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b

/** The longest that an escape can be: `\u00e9`. */
const ESCAPE_BYTES = 6

/** The longest that a character can be in UTF-8. */
const CHARACTER_BYTES = 4

/** The bytes of a text in JSON, without its quotes. */
interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Looks through JSON that comes in pieces, before it is parsed: three bytes of it can be a value
 * that takes a hundred in memory.
 *
 * It counts all values, nested ones included; empty lists and objects count as two, and it may
 * count in what is no JSON, too.
 */
export class JsonScan {
  /** In the order in which they stand. */
  readonly longTexts: Range[] = []
  readonly #most: number
  readonly #longTextBytes: number
  #count = 1
  #before = 0
  #textStart: number | undefined
  #isEscape = false

  constructor(most: number = MAX_VALUES, longTextBytes: number = LONG_TEXT_BYTES) {
    this.#most = most
    this.#longTextBytes = longTextBytes
  }

  /** @throws {HttpError} `BAD_BODY` when there are too many values. */
  add(piece: Uint8Array): void {
    let [count, textStart, isEscape] = [this.#count, this.#textStart, this.#isEscape]
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]
      if (textStart !== undefined) {
        if (isEscape) isEscape = false
        else if (byte === BACKSLASH) isEscape = true
        else if (byte === QUOTE) {
          this.#noteText({ start: textStart, end: this.#before + at })
          textStart = undefined
        }
      } else if (byte === QUOTE) {
        textStart = this.#before + at + 1
      } else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) {
        count++
      }
    }
    this.#before += piece.length
    this.#count = count
    this.#textStart = textStart
    this.#isEscape = isEscape
    // A value has one text, and a key at most: what has more is no JSON.
    if (count > this.#most || this.longTexts.length > 2 * this.#most) {
      throw badBody(`more than ${this.#most} values`)
    }
  }

  #noteText(range: Range): void {
    if (range.end - range.start > this.#longTextBytes) this.longTexts.push(range)
  }
}

/**
 * A body as JSON in UTF-8; a byte order mark is tolerated. Others have their turn between two
 * pieces of a long one.
 *
 * @throws {HttpError} `BAD_BODY` when it is not that.
 */
export async function parseJson(bytes: Uint8Array): Promise<unknown> {
  const scan = new JsonScan()
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    if (start > 0) await turn()
    scan.add(bytes.subarray(start, start + PIECE_BYTES))
  }
  return parseScannedJson(bytes, scan)
}

/**
 * The same for a body that `scan` has seen to its end.
 *
 * @param pieceBytes Bytes of texts that are parsed in one go; 16 or more.
 */
export async function parseScannedJson(
  bytes: Uint8Array,
  scan: JsonScan,
  pieceBytes: number = PIECE_BYTES,
): Promise<unknown> {
  if (bytes.length <= pieceBytes || scan.longTexts.length === 0) return parse(bytes)
  const texts = new Map<unknown, string>()
  const around: Uint8Array[] = []
  let batch = new TextBatch()
  let end = 0
  for (const range of scan.longTexts) {
    const place = `${PLACE}${around.length}`
    around.push(bytes.subarray(end, range.start), Buffer.from(place))
    end = range.end
    const text = bytes.subarray(range.start, range.end)
    for (let start = 0; start < text.length; ) {
      const next = endOfPiece(text, start, pieceBytes)
      batch.add(place, text.subarray(start, next))
      start = next
      if (batch.size < pieceBytes) continue
      batch.parseInto(texts)
      batch = new TextBatch()
      await turn()
    }
  }
  batch.parseInto(texts)
  await turn()
  return putBack(parse(Buffer.concat([...around, bytes.subarray(end)])), texts)
}

const COMMA_BETWEEN = Buffer.from('","')

/** Texts, or pieces of some, that are parsed in one go: as one list. */
class TextBatch {
  size = 0
  readonly #places: string[] = []
  readonly #pieces: Uint8Array[] = []

  /** @param place What stands for the text. */
  add(place: string, piece: Uint8Array): void {
    this.#places.push(place)
    this.#pieces.push(COMMA_BETWEEN, piece)
    this.size += piece.length
  }

  parseInto(texts: Map<unknown, string>): void {
    const list = Buffer.concat([Buffer.from('["'), ...this.#pieces, Buffer.from('"]')])
    // Each piece stands behind a comma, the first one too.
    const [, ...parsed] = parse(list) as readonly string[]
    for (const [index, place] of this.#places.entries()) {
      texts.set(place, `${texts.get(place) ?? ''}${parsed[index]}`)
    }
  }
}

/** Where neither a character nor an escape is cut. */
function endOfPiece(bytes: Uint8Array, start: number, pieceBytes: number): number {
  let end = start + pieceBytes
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

/** Puts long texts in the place of what stands for them, wherever that is a value. */
function putBack(value: unknown, texts: ReadonlyMap<unknown, string>): unknown {
  const root: Record<string, unknown> = { value }
  const open: Record<string, unknown>[] = [root]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const [name, inner] of Object.entries(holder)) {
      const text = texts.get(inner)
      if (text !== undefined) holder[name] = text
      else if (typeof inner === 'object' && inner !== null) {
        open.push(inner as Record<string, unknown>)
      }
    }
  }
  return root['value']
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // Without a `cause`: the message of a SyntaxError quotes the body.
    throw badBody('not JSON in UTF-8')
  }
}
