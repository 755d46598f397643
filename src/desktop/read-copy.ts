/**
 * Reads what a person copied, in the format that suits best.
 *
 * 1. Files, when the copy lists any that exist here: file managers offer their paths as text as
 *    well, but the person meant the files.
 * 2. Plain text. Programs that copy text often offer a picture of it too (a spreadsheet its
 *    cells), while those that copy a picture offer HTML beside it (a browser an `<img>`), but no
 *    plain text. So plain text means that text was copied.
 * 3. An image: PNG because it is lossless and everybody reads it, then JPEG, then the others.
 *
 * HTML source is never read. A step that yields nothing gives way to the next one. Copies that a
 * password manager marks as secret are not read.
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { access } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isAbsolute } from 'node:path'
import {
  KIB,
  MAX_CLIPBOARD_IMAGE_BYTES,
  MAX_GROUP_ENTRIES,
  MAX_METADATA_BYTES,
} from '../core/limits.ts'
import { Interruption } from '../lib/semaphore.ts'
import { turnsAt } from '../lib/user-files.ts'
import { decodeLatin1, decodeUtf8 } from '../lib/utf8.ts'
import { withoutTrailing } from '../lib/without-trailing.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ClipboardEvents, CopiedContent } from '../ports/system-clipboard.ts'
import { CopyTooLarge } from './clipboard-errors.ts'
import { parseUriList } from './uri-list.ts'

type CopyKind = CopiedContent['kind']

/** Something that was copied, and is of a kind that is not shared. */
export interface LeftOut {
  readonly kind: CopyKind
  /** In bytes; `undefined` when it was not even read. */
  readonly size: number | undefined
}

/** The kinds and the sizes of copies that are shared. */
export interface CopyLimits {
  readonly types: readonly CopyKind[]
  readonly maxTextBytes: number
  readonly maxImageBytes: number
  /** Hears of each copy of another kind. */
  readonly onLeftOut?: (leftOut: LeftOut) => void
}

export const COPY_LIMITS: CopyLimits = {
  types: ['text', 'image', 'files'],
  maxTextBytes: MAX_METADATA_BYTES,
  maxImageBytes: MAX_CLIPBOARD_IMAGE_BYTES,
}

/** One copy, as its owner offers it. */
export interface CopySource {
  targets(): Promise<readonly string[]>
  /**
   * Reads the copy in one format; `undefined` when the owner refuses.
   *
   * @throws {CopyTooLarge} Past `maxBytes`; {Error} when the owner does not answer.
   */
  read(target: string, maxBytes: number): Promise<Uint8Array | undefined>
}

/** `unknown` is UTF-8 if it can be, else Latin-1. */
type Charset = 'utf-8' | 'unknown' | 'latin-1'

type ReadingStep =
  | { readonly kind: 'files'; readonly target: string }
  | { readonly kind: 'image'; readonly target: string }
  | { readonly kind: 'text'; readonly target: string; readonly charset: Charset }

/** In the order of preference. */
const STEPS: readonly ReadingStep[] = [
  { kind: 'files', target: 'text/uri-list' },
  { kind: 'files', target: 'x-special/gnome-copied-files' },
  { kind: 'text', target: 'UTF8_STRING', charset: 'utf-8' },
  { kind: 'text', target: 'text/plain;charset=utf-8', charset: 'utf-8' },
  { kind: 'text', target: 'text/plain;charset=UTF-8', charset: 'utf-8' },
  { kind: 'text', target: 'text/plain', charset: 'unknown' },
  { kind: 'text', target: 'STRING', charset: 'latin-1' },
  ...['png', 'jpeg', 'webp', 'gif', 'tiff', 'bmp', 'avif', 'heic', 'heif'].map((name) => ({
    kind: 'image' as const,
    target: `image/${name}`,
  })),
]

/** How password managers mark what they copy: the value is `secret`. */
const SECRET_HINT = 'x-kde-passwordManagerHint'

const MAX_HINT_BYTES = KIB

/** All formats that are asked for. */
export const COPY_FORMATS: readonly string[] = [...STEPS.map(({ target }) => target), SECRET_HINT]

/** The surroundings of the adapter of a system. */
export interface AdapterOptions {
  readonly events: ClipboardEvents
  readonly logger: Logger
  readonly clock: Clock
  /** Reports what is on the clipboard already as `found`, or `nobody` when that is nothing. */
  readonly readAtStart: boolean
  /** Whether the daemon before this one was killed, which leaves there what it offered. */
  readonly wasCutOff?: boolean
  readonly limits?: Partial<CopyLimits>
}

/**
 * Reads what was copied; `undefined` when it is secret, empty, of a kind that is not shared, or in
 * no format that is known here. A kind that is not shared is not shared as another one either: the
 * paths of files are no text then, and the picture of a text is no image.
 *
 * @throws {CopyTooLarge} When it is larger than what is shared; what `source` throws.
 * @throws `signal.reason` when aborted while files are looked for.
 */
export async function readCopy(
  source: CopySource,
  limits: CopyLimits,
  signal: AbortSignal,
): Promise<CopiedContent | undefined> {
  const targets = await source.targets()
  if (targets.includes(SECRET_HINT) && (await isSecret(source))) return undefined
  for (const step of STEPS.filter(({ target }) => targets.includes(target))) {
    const isShared = limits.types.includes(step.kind)
    // Nothing comes after images: there is no need to see whether it is one.
    const found =
      isShared || step.kind !== 'image' ? await tryStep(step, source, limits, signal) : undefined
    if (!isShared && (found !== undefined || step.kind === 'image')) {
      const size = found === undefined ? undefined : sizeOf(found)
      limits.onLeftOut?.({ kind: step.kind, size })
      return undefined
    }
    if (found instanceof CopyTooLarge) throw found
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Whether a copy is of a kind that is not shared, which most adapters do not even read.
 *
 * @throws {CopyTooLarge} When it is larger than what is shared.
 */
export function isLeftOut(copied: CopiedContent, limits: CopyLimits): boolean {
  const { kind } = copied
  const size = sizeOf(copied)
  if (!limits.types.includes(kind)) {
    limits.onLeftOut?.({ kind, size })
    return true
  }
  const maxBytes = kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
  if (size !== undefined && size > maxBytes) throw new CopyTooLarge({ maxBytes, size, kind })
  return false
}

/** In bytes; `undefined` for files, which are not read. */
function sizeOf(copy: CopiedContent | CopyTooLarge): number | undefined {
  if (copy instanceof CopyTooLarge) return copy.size
  if (copy.kind === 'files') return undefined
  return copy.kind === 'text' ? Buffer.byteLength(copy.text) : copy.bytes.length
}

/** A mark that cannot be read counts as well. */
async function isSecret(source: CopySource): Promise<boolean> {
  try {
    const hint = await source.read(SECRET_HINT, MAX_HINT_BYTES)
    return hint === undefined || /^[\0\s]*secret[\0\s]*$/i.test(decodeLatin1(hint))
  } catch (error) {
    if (error instanceof CopyTooLarge) return true
    throw error
  }
}

async function tryStep(
  step: ReadingStep,
  source: CopySource,
  limits: CopyLimits,
  signal: AbortSignal,
): Promise<CopiedContent | CopyTooLarge | undefined> {
  const maxBytes = step.kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
  try {
    const bytes = await source.read(step.target, maxBytes)
    return bytes === undefined ? undefined : await contentOf(step, bytes, signal)
  } catch (error) {
    if (!(error instanceof CopyTooLarge)) throw error
    return new CopyTooLarge({ maxBytes, size: error.size, kind: step.kind })
  }
}

async function contentOf(
  step: ReadingStep,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<CopiedContent | undefined> {
  if (step.kind === 'image') {
    return bytes.length === 0 ? undefined : { kind: 'image', mediaType: step.target, bytes }
  }
  if (step.kind === 'files') {
    return filesThatExist(parseUriList(isUtf8(bytes) ? decodeUtf8(bytes) : '', hostname()), signal)
  }
  const text = withoutTrailing(decodeText(bytes, step.charset) ?? '', '\0')
  return text === '' ? undefined : { kind: 'text', text }
}

/**
 * A copy of those of `paths` that are absolute and exist; `undefined` when there are none. Past the
 * most that is shared nobody looks: whoever reads them says that they are too many.
 *
 * @throws `signal.reason` when aborted, also while a share that they are on does not answer.
 */
export async function filesThatExist(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<CopiedContent | undefined> {
  const absolute = paths.filter((path) => isAbsolute(path))
  const [first = ''] = absolute
  const look = turnsAt(first, signal)
  const waiting = new Interruption()
  const stop = (): void => waiting.interrupt(signal.reason)
  signal.addEventListener('abort', stop)
  try {
    const existing: string[] = []
    for (const path of absolute.slice(0, MAX_GROUP_ENTRIES + 1)) {
      if (await waiting.guard(look(() => isThere(path)))) existing.push(path)
    }
    if (existing.length === 0) return undefined
    return { kind: 'files', paths: existing.concat(absolute.slice(MAX_GROUP_ENTRIES + 1)) }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

function decodeText(bytes: Uint8Array, charset: Charset): string | undefined {
  if (charset !== 'latin-1' && isUtf8(bytes)) return decodeUtf8(bytes)
  return charset === 'utf-8' ? undefined : decodeLatin1(bytes)
}
