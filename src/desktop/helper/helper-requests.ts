/**
 * Reads and writes a clipboard through its helper: one request for each format that is tried.
 * @module
 */

import { arrayOf, decodeString } from '../../lib/decoder.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { readStart } from '../../lib/read-bytes.ts'
import { parseJson } from '../../lib/utf8.ts'
import { withoutTrailing } from '../../lib/without-trailing.ts'
import type { Blob } from '../../ports/blob.ts'
import type { ClipboardKind, CopiedContent, OfferedContent } from '../../ports/system-clipboard.ts'
import { ClipboardHeld, CopyTooLarge } from '../clipboard-errors.ts'
import { readOrientation } from '../photo-orientation.ts'
import { filesThatExist, type CopyLimits } from '../read-copy.ts'
import {
  decodeChangeReply,
  decodeReadReply,
  type ChangeReply,
  type ClipboardState,
} from './clipboard-messages.ts'
import { fillExchangeFile, readExchangeFile, withExchangeFile } from './exchange-file.ts'

/** One format to try. */
export type FormatToRead =
  | { readonly kind: 'files' | 'text'; readonly type: string }
  /** `mediaType` is that of the bytes that come. */
  | { readonly kind: 'image'; readonly type: string; readonly mediaType: string }

/** In what macOS and Windows differ: the names of formats, and how programs mark secrets. */
export interface ClipboardDialect {
  readonly kind: ClipboardKind
  /** All formats that can be read, in the order of `read-copy.ts`: files, plain text, images. */
  readonly formats: readonly FormatToRead[]
  /** Whether whoever copied does not want it to be shared. */
  isPrivate(state: ClipboardState): boolean
  /** The format to offer as. */
  typeOf(content: OfferedContent): string
  /** Whether the helper also offers an image as the file that it was saved to. */
  readonly hasImageFiles?: boolean
  /** Whether the helper is told that a photo lies, which it cannot see. */
  readonly tellsLyingPhotos?: boolean
}

/** A camera writes which way is up at the beginning. */
const EXIF_BYTES: number = 128 * 1024

/** Asks the helper; resolves to the fields of its reply. */
export type AskHelper = (
  action: string,
  fields?: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>

interface HelperCopy {
  /** `undefined` when it is private, empty, or in no format that is known here. */
  readonly content: CopiedContent | undefined
  /** The number now: a format that is made when it is asked for may count as a change. */
  readonly change: number
}

/** Requests need these. */
export interface HelperRequestDeps {
  readonly ask: AskHelper
  readonly dialect: ClipboardDialect
  readonly limits: CopyLimits
}

/**
 * Reads what was copied, in the format that suits best; nothing at all of what is private.
 *
 * @returns `undefined` when another copy has overtaken this one, which the helper announces.
 * @throws {CopyTooLarge} When the copy is larger than what is shared.
 * @throws {ClipboardHeld} When another program has it open.
 * @throws {Error} When the helper does not do it. The message is for people.
 */
export async function readHelperCopy(
  state: ClipboardState,
  signal: AbortSignal,
  deps: HelperRequestDeps,
): Promise<HelperCopy | undefined> {
  let { change } = state
  const { formats, isPrivate } = deps.dialect
  const offered = formats.filter(({ type }) => state.types.includes(type))
  for (const format of isPrivate(state) ? [] : offered) {
    const read = await readFormat(format, change, deps)
    if (read === undefined || signal.aborted) return undefined
    change = read.change
    const content =
      read.bytes === undefined ? undefined : await contentOf(format, read.bytes, signal)
    if (content !== undefined) return { content, change }
  }
  return { content: undefined, change }
}

/**
 * Resolves when other programs can paste `content`, of which the system keeps a copy.
 *
 * @throws {ClipboardHeld} When another program has the clipboard open.
 * @throws {Error} When the image is too long, or the helper does not do it.
 */
export async function writeHelperOffer(
  content: OfferedContent,
  { ask, dialect, limits }: HelperRequestDeps,
): Promise<ChangeReply> {
  // Systems keep it in memory, and so do the programs that paste it.
  if (content.kind === 'image' && content.blob.size > limits.maxImageBytes) {
    throw new Error(`The image is larger than ${formatBytes(limits.maxImageBytes)}`)
  }
  const type = dialect.typeOf(content)
  const path = dialect.hasImageFiles === true ? await saveImage(content) : undefined
  const lies = dialect.tellsLyingPhotos === true && (await isLying(content)) ? true : undefined
  const { kind } = content
  return withExchangeFile(async (file) => {
    await fillExchangeFile(file, bytesOf(content))
    const reply = decodeChangeReply(await ask('write', { kind, type, file, path, lies }))
    if (reply.outcome === 'held') throw new ClipboardHeld()
    return reply
  })
}

/** Whether a photo has to be turned before it is shown. */
async function isLying(content: OfferedContent): Promise<boolean> {
  if (content.kind !== 'image' || content.mediaType !== 'image/jpeg') return false
  const start = await readStart(content.blob, Math.min(content.blob.size, EXIF_BYTES))
  return readOrientation(Buffer.from(start)) !== 1
}

async function saveImage(content: OfferedContent): Promise<string | undefined> {
  if (content.kind !== 'image') return undefined
  // Where no file can be saved, the image itself can be pasted.
  return content.file?.save().catch(() => undefined)
}

/** Reads the copy; there are no bytes when it is not there in this format after all. */
async function readFormat(
  { kind, type }: FormatToRead,
  change: number,
  { ask, limits }: HelperRequestDeps,
): Promise<{ readonly change: number; readonly bytes?: Uint8Array } | undefined> {
  const maxBytes = kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
  return withExchangeFile(async (file) => {
    const reply = decodeReadReply(await ask('read', { change, type, maxBytes, file }))
    if (reply.outcome === 'overtaken') return undefined
    if (reply.outcome === 'held') throw new ClipboardHeld()
    if (reply.outcome === 'absent') return { change: reply.change }
    const size = reply.outcome === 'read' ? reply.bytes : maxBytes + 1
    if (size > maxBytes) throw new CopyTooLarge({ maxBytes, size, kind })
    return { change: reply.change, bytes: await readExchangeFile(file, size) }
  })
}

/**
 * Makes a copy out of the bytes that a helper read; `undefined` when there is nothing in them:
 * another format of the same copy may be better.
 *
 * @throws {Error} When a list of files cannot be read; its message quotes nothing of it.
 */
async function contentOf(
  format: FormatToRead,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<CopiedContent | undefined> {
  if (format.kind === 'image') {
    return bytes.length === 0 ? undefined : { kind: 'image', mediaType: format.mediaType, bytes }
  }
  const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  if (format.kind === 'files') return filesThatExist(parsePaths(decoded), signal)
  const text = withoutTrailing(decoded, '\0')
  return text === '' ? undefined : { kind: 'text', text }
}

const decodePaths = arrayOf(decodeString)

function parsePaths(json: string): readonly string[] {
  try {
    return decodePaths(parseJson(json))
  } catch {
    throw new Error('The clipboard helper gave a list of files that cannot be read')
  }
}

function bytesOf(content: OfferedContent): Uint8Array | Blob {
  if (content.kind === 'image') return content.blob
  return Buffer.from(content.kind === 'text' ? content.text : JSON.stringify(content.paths))
}
