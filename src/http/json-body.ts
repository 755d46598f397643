/**
 * Parses JSON that may be long, and keeps nobody waiting for it.
 *
 * What takes long in a long body is its texts: all but short ones are left out, and are parsed a
 * megabyte at a time. One that is longer than that is not made a string: it stays bytes of UTF-8.
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { endOfPiece } from '../lib/long-text.ts'
import { badBody, type HttpError } from './http-error.ts'

/** Forty times what any body here has: that of a batch. They take 5 MiB. */
const MAX_VALUES = 20_000

/** Bytes of texts that are parsed in one go, which takes some milliseconds. */
const PIECE_BYTES: number = 1024 * 1024

/** Shorter texts are parsed with what is around them: all that there may be have a megabyte. */
const LONG_TEXT_BYTES = 64

/** Bytes that are parsed in the time that a text takes besides its own. */
const TEXT_COST = 1024

/** Stands for a long text, with a number. Nobody can guess it. */
const PLACE: string = randomUUID()

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b

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
  /** Whether a text has a character as it is that must be escaped. */
  hasControls = false

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
        } else if ((byte ?? 0) < SPACE) {
          this.hasControls = true
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
 * @param bytes Handed over: longer texts are decoded in their place.
 * @param pieceBytes Bytes of texts that are parsed in one go; 16 or more. A text of more is given
 *   as UTF-8.
 */
export async function parseScannedJson(
  bytes: Uint8Array,
  scan: JsonScan,
  pieceBytes: number = PIECE_BYTES,
): Promise<unknown> {
  if (bytes.length <= pieceBytes || scan.longTexts.length === 0) return parse(bytes)
  if (scan.hasControls) throw notJson()
  const texts = new Map<unknown, unknown>()
  const around: Uint8Array[] = []
  let end = 0
  let done = 0
  for (const range of scan.longTexts) {
    const place = `${PLACE}${around.length}`
    around.push(bytes.subarray(end, range.start), Buffer.from(place))
    end = range.end
    const text = bytes.subarray(range.start, range.end)
    const isLonger = text.length > pieceBytes
    texts.set(place, isLonger ? await decodeInPlace(text, pieceBytes) : parseText(text))
    done += text.length + TEXT_COST
    if (done < pieceBytes) continue
    done = 0
    await turn()
  }
  await turn()
  return putBack(parse(Buffer.concat([...around, bytes.subarray(end)])), texts)
}

const QUOTES = Buffer.from('"')

/** The first half of a character, at the end. */
const HALF = /[\ud800-\udbff]$/

const encoder = new TextEncoder()

/** @returns The text in UTF-8, which never takes more bytes than its JSON. */
async function decodeInPlace(text: Uint8Array, pieceBytes: number): Promise<Uint8Array> {
  let written = 0
  let half = ''
  for (let start = 0; start < text.length; await turn()) {
    const end = endOfPiece(text, start, pieceBytes)
    const piece = text.subarray(start, end)
    if (half === '' && isUtf8(piece) && !piece.includes(BACKSLASH)) {
      text.copyWithin(written, start, end)
      written += piece.length
    } else {
      const decoded = half + parseText(piece)
      // The other half of a character may be in the next piece.
      const whole = end < text.length ? decoded.replace(HALF, '') : decoded
      half = decoded.slice(whole.length)
      written += encoder.encodeInto(whole, text.subarray(written)).written
    }
    start = end
  }
  return text.subarray(0, written)
}

function parseText(json: Uint8Array): string {
  return String(parse(Buffer.concat([QUOTES, json, QUOTES])))
}

/** Puts long texts in the place of what stands for them, wherever that is a value. */
function putBack(value: unknown, texts: ReadonlyMap<unknown, unknown>): unknown {
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
    throw notJson()
  }
}

function notJson(): HttpError {
  return badBody('not JSON in UTF-8')
}
