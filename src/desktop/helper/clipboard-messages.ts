/**
 * The requests to the clipboard helpers of macOS and Windows, and what they say, in the lines of
 * `helper-message.ts`.
 *
 * | from | line |
 * |---|---|
 * | helper | `{"event":"changed","change":N,"types":[…],"denied":[…]}`: another program copied |
 * | adapter | `{"id":I,"do":"look"}` |
 * | helper | `{"reply":I,"change":N,"types":[…],"denied":[…]}`: what is on the clipboard |
 * | adapter | `{"id":I,"do":"read","change":N,"type":"…","maxBytes":N,"file":"…"}` |
 * | helper | `{"reply":I,"outcome":"read","change":N,"bytes":N}`, or another outcome |
 * | adapter | `{"id":I,"do":"write","kind":"…","type":"…","file":"…"}` |
 * | helper | `{"reply":I,"outcome":"written","change":N}`, or `overtaken` |
 * | adapter | `{"id":I,"do":"release","change":N}`: empty it, if that is ours |
 * | helper | `{"reply":I,"outcome":"released","change":N}`, or `overtaken` |
 * | helper | `{"reply":I,"outcome":"held","change":N}`: another program has it open |
 *
 * `change` is the number that the system counts its changes with. A helper announces no change that
 * it made itself, and every other one, `overtaken` or not. `denied` are the permissions to share a
 * copy that its owner withholds.
 *
 * A `write` also has, on Windows, the `path` of the file that an image was saved to, and on macOS
 * `"lies":true` for a photo that is to be turned before it is shown.
 *
 * Contents never stand in a line: they are in `file`, made by the adapter for this one request. A
 * text is UTF-8, a list of files a JSON array of paths, and pictures that are no files of their own
 * (TIFF of macOS, DIB of Windows) come as PNG.
 * @module
 */

import {
  arrayOf,
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  oneOf,
  optional,
  type Decoder,
} from '../../lib/decoder.ts'

/** The state of the clipboard, without its content. */
export interface ClipboardState {
  readonly change: number
  /** Names of formats, as the system has them. */
  readonly types: readonly string[]
  readonly denied: readonly string[]
}

type ReadReply =
  | { readonly outcome: 'read'; readonly change: number; readonly bytes: number }
  | { readonly outcome: 'absent' | 'tooLong' | 'overtaken' | 'held'; readonly change: number }

/** The outcome of a wish to change the clipboard. */
export interface ChangeReply {
  readonly outcome: 'written' | 'released' | 'overtaken' | 'held'
  readonly change: number
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
const decodeCount = matching(decodeNumber, isCount, 'a count')

const decodeStateFields = objectOf({
  change: decodeCount,
  types: arrayOf(decodeString),
  denied: optional(arrayOf(decodeString)),
})

const decodeReadFields = objectOf({
  outcome: oneOf(['read', 'absent', 'tooLong', 'overtaken', 'held']),
  change: decodeCount,
  bytes: optional(decodeCount),
})

/** @throws {TypeError} */
export const decodeClipboardState: Decoder<ClipboardState> = (value, path) => {
  const { change, types, denied = [] } = decodeStateFields(value, path)
  return { change, types, denied }
}

/** @throws {TypeError} */
export const decodeReadReply: Decoder<ReadReply> = (value, path) => {
  const { outcome, change, bytes } = decodeReadFields(value, path)
  if (outcome !== 'read') return { outcome, change }
  return { outcome, change, bytes: decodeCount(bytes, 'bytes') }
}

/** @throws {TypeError} */
export const decodeChangeReply: Decoder<ChangeReply> = objectOf({
  outcome: oneOf(['written', 'released', 'overtaken', 'held']),
  change: decodeCount,
})
