/**
 * Reads what a person copied, in the format that suits best.
 *
 * Copies that a password manager marks as secret are not read.
 *
 * @module
 */

import { access } from 'node:fs/promises'
import { hostname } from 'node:os'
import { KIB, MAX_CLIPBOARD_IMAGE_BYTES, MAX_METADATA_BYTES } from '../core/limits.ts'
import type { CopiedContent } from '../ports/system-clipboard.ts'
import { CopyTooLarge } from './clipboard-errors.ts'
import { decodeLatin1 } from './latin-1.ts'
import { planReading, type Charset, type ReadingStep } from './reading-plan.ts'
import { withoutTrailingNuls } from './trailing-nuls.ts'
import { parseUriList } from './uri-list.ts'

export type CopyKind = CopiedContent['kind']

/** Something that was copied, and is of a kind that is not shared. */
export interface LeftOut {
  readonly kind: CopyKind
  /** In bytes; `undefined` when it was not even read. */
  readonly size: number | undefined
}

/** What is read of that which is copied. */
export interface CopyLimits {
  /** Kinds that are shared. */
  readonly types: readonly CopyKind[]
  readonly maxTextBytes: number
  readonly maxImageBytes: number
  /** Told of each copy of another kind. */
  readonly onLeftOut?: (leftOut: LeftOut) => void
}

export const COPY_LIMITS: CopyLimits = {
  types: ['text', 'image', 'files'],
  maxTextBytes: MAX_METADATA_BYTES,
  maxImageBytes: MAX_CLIPBOARD_IMAGE_BYTES,
}

/** One copy, as its owner offers it. */
export interface CopySource {
  /** The formats that it offers. */
  targets(): Promise<readonly string[]>
  /**
   * The copy in one format; `undefined` when the owner refuses.
   *
   * @throws {CopyTooLarge} Past `maxBytes`.
   * @throws {Error} When the owner does not answer.
   */
  read(target: string, maxBytes: number): Promise<Uint8Array | undefined>
}

/** How password managers mark what they copy: the value is `secret`. */
const SECRET_HINT = 'x-kde-passwordManagerHint'

const MAX_HINT_BYTES = KIB

/**
 * What was copied; `undefined` when it is secret, empty, of a kind that is not shared, or in no
 * format that is known here.
 *
 * A copy of a kind that is not shared is not shared as something else either: the paths of files
 * are no text then, and the picture of a text is no image.
 *
 * @throws {CopyTooLarge} When it is larger than what is shared; what `source` throws.
 */
export async function readCopy(
  source: CopySource,
  limits: CopyLimits,
): Promise<CopiedContent | undefined> {
  const targets = await source.targets()
  if (targets.includes(SECRET_HINT) && (await isSecret(source))) return undefined
  for (const step of planReading(targets)) {
    const isShared = limits.types.includes(step.kind)
    // Nothing comes after images: there is no need to see whether it is one.
    const found =
      isShared || step.kind !== 'image' ? await tryStep(step, source, limits) : undefined
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

/** In bytes; `undefined` for files, which are not read. */
export function sizeOf(copy: CopiedContent | CopyTooLarge): number | undefined {
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
): Promise<CopiedContent | CopyTooLarge | undefined> {
  const maxBytes = step.kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
  try {
    const bytes = await source.read(step.target, maxBytes)
    return bytes === undefined ? undefined : await contentOf(step, bytes)
  } catch (error) {
    if (!(error instanceof CopyTooLarge)) throw error
    return new CopyTooLarge({ maxBytes, size: error.size, kind: step.kind })
  }
}

async function contentOf(step: ReadingStep, bytes: Uint8Array): Promise<CopiedContent | undefined> {
  if (step.kind === 'image') {
    return bytes.length === 0 ? undefined : { kind: 'image', mediaType: step.target, bytes }
  }
  if (step.kind === 'files') {
    const paths = parseUriList(decodeUtf8(bytes) ?? '', hostname())
    const there = await Promise.all(paths.map(exists))
    const existing = paths.filter((_, index) => there[index])
    return existing.length === 0 ? undefined : { kind: 'files', paths: existing }
  }
  const text = withoutTrailingNuls(decodeText(bytes, step.charset) ?? '')
  return text === '' ? undefined : { kind: 'text', text }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function decodeText(bytes: Uint8Array, charset: Charset): string | undefined {
  if (charset === 'latin-1') return decodeLatin1(bytes)
  return decodeUtf8(bytes) ?? (charset === 'unknown' ? decodeLatin1(bytes) : undefined)
}

/** `undefined` when it is not UTF-8: another format of the same copy may be better. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // A TypeError, the only way in which the decoder says so.
    return undefined
  }
}
