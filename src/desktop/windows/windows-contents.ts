/**
 * The bytes of the clipboard's formats, as bytes that travel, and back: UTF-8 for a text, a JSON
 * array for a list of files, PNG for a bitmap.
 * @module
 */

import { arrayOf, decodeString } from '../../lib/decoder.ts'
import { parseJson } from '../../lib/utf8.ts'
import { writePng } from '../../lib/write-png.js'
import { decodeBitmap, encodeBitmap, encodeBitmapV5, MAX_PIXELS, type Picture } from './bitmap.ts'
import type { FormatBytes } from './window-thread.ts'

const BITMAPS: readonly string[] = ['CF_DIBV5', 'CF_DIB']

/** Headers and palettes are short. */
const MAX_BITMAP_BYTES: number = 4 * MAX_PIXELS + 4096

/** Without it, Explorer would move them. */
const DROPEFFECT_COPY: Uint8Array = Uint8Array.of(1, 0, 0, 0)

/** The header of `DROPFILES`: where names begin, where the mouse was, whether it is Unicode. */
const DROP_HEADER_BYTES = 20
const DROP_UNICODE_AT = 16

/** The level of compression: more takes twice as long, and saves little. */
const PNG_LEVEL = 3

const decodePaths = arrayOf(decodeString)

/** The most bytes that a format may have of which `maxBytes` are left; both bounds are rough. */
export function boundOf(type: string, maxBytes: number): number {
  // A character of 16 bits has at least one byte in UTF-8, and buffers may be longer.
  if (type === 'CF_UNICODETEXT') return 4 * maxBytes
  return BITMAPS.includes(type) ? MAX_BITMAP_BYTES : maxBytes
}

/** Makes what the daemon reads; `undefined` when there is nothing in it that it understands. */
export async function decodeFormat(
  type: string,
  bytes: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (type === 'CF_UNICODETEXT') return Buffer.from(decodeText(bytes))
  if (BITMAPS.includes(type)) {
    const picture = decodeBitmap(bytes)
    return picture && encodePng(picture)
  }
  if (type !== 'CF_HDROP') return bytes
  const paths = decodeDropFiles(bytes)
  return paths === undefined ? undefined : Buffer.from(JSON.stringify(paths))
}

/** The content that the daemon offers, its picture if Windows can read it, and an image's file. */
interface Offer {
  readonly kind: string
  readonly type: string
  readonly bytes: Uint8Array
  readonly picture: Picture | undefined
  readonly path: string | undefined
}

/** Makes all formats of what the daemon offers, the best first. */
export async function encodeFormats({
  kind,
  type,
  bytes,
  picture,
  path,
}: Offer): Promise<FormatBytes[]> {
  if (kind === 'text') return [['CF_UNICODETEXT', encodeText(bytes)]]
  if (kind === 'image') {
    const files = path === undefined ? [] : encodeFiles([path])
    return [...(await encodeImage(type, bytes, picture)), ...files]
  }
  return encodeFiles(decodePaths(parseJson(Buffer.from(bytes).toString())))
}

function encodeFiles(paths: readonly string[]): FormatBytes[] {
  return [
    ['CF_HDROP', encodeDropFiles(paths)],
    ['Preferred DropEffect', DROPEFFECT_COPY],
  ]
}

/** Many programs paste PNG or bitmaps only; some of them mistake what can be seen through. */
async function encodeImage(
  type: string,
  bytes: Uint8Array,
  picture: Picture | undefined,
): Promise<FormatBytes[]> {
  if (picture === undefined) return [[type, bytes]]
  return [
    [type, bytes],
    ...(type === 'PNG' ? [] : [['PNG', await encodePng(picture)] as const]),
    ['CF_DIBV5', encodeBitmapV5(picture)],
    ['CF_DIB', encodeBitmap(picture)],
  ]
}

function encodePng({ width, height, pixels }: Picture): Promise<Uint8Array> {
  return writePng({ data: pixels, width, height, isBlueFirst: true }, PNG_LEVEL)
}

function decodeText(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-16le', { ignoreBOM: true }).decode(bytes)
  const end = text.indexOf('\0')
  return end === -1 ? text : text.slice(0, end)
}

/** It ends with a NUL. */
function encodeText(utf8: Uint8Array): Uint8Array {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(utf8)
  return Buffer.from(`${text}\0`, 'utf16le')
}

/** Reads `DROPFILES`; `undefined` when it is none, or of the time before Unicode. */
function decodeDropFiles(bytes: Uint8Array): readonly string[] | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.length < DROP_HEADER_BYTES || view.readUInt32LE(DROP_UNICODE_AT) === 0) return undefined
  const names = view.subarray(view.readUInt32LE(0)).toString('utf16le')
  // Each name ends with a NUL, and the list with one more.
  const end = names.indexOf('\0\0')
  return (end === -1 ? names : names.slice(0, end)).split('\0').filter((name) => name !== '')
}

function encodeDropFiles(paths: readonly string[]): Uint8Array {
  const header = Buffer.alloc(DROP_HEADER_BYTES)
  header.writeUInt32LE(DROP_HEADER_BYTES, 0)
  header.writeUInt32LE(1, DROP_UNICODE_AT)
  return Buffer.concat([header, Buffer.from(`${paths.join('\0')}\0\0`, 'utf16le')])
}
