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
import { decodeLatin1 } from './latin-1.ts'
import { planReading, type Charset, type ReadingStep } from './reading-plan.ts'
import { parseUriList } from './uri-list.ts'

/** Sizes up to which a copy is read. */
export interface CopyLimits {
  readonly maxTextBytes: number
  readonly maxImageBytes: number
}

export const COPY_LIMITS: CopyLimits = {
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
   * @throws {Error} Past `maxBytes`, or when the owner does not answer.
   */
  read(target: string, maxBytes: number): Promise<Uint8Array | undefined>
}

/** How password managers mark what they copy: the value is `secret`. */
const SECRET_HINT = 'x-kde-passwordManagerHint'

const MAX_HINT_BYTES = KIB

/** What was copied; `undefined` when it is secret, empty, or in no format that is known here. */
export async function readCopy(
  source: CopySource,
  limits: CopyLimits,
): Promise<CopiedContent | undefined> {
  const targets = await source.targets()
  if (targets.includes(SECRET_HINT) && (await isSecret(source))) return undefined
  for (const step of planReading(targets)) {
    const maxBytes = step.kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
    const bytes = await source.read(step.target, maxBytes)
    const content = bytes === undefined ? undefined : await contentOf(step, bytes)
    if (content !== undefined) return content
  }
  return undefined
}

/** A mark that cannot be read counts as well. */
async function isSecret(source: CopySource): Promise<boolean> {
  const hint = await source.read(SECRET_HINT, MAX_HINT_BYTES)
  return hint === undefined || trimNuls(decodeLatin1(hint)).trim() === 'secret'
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
  const text = trimNuls(decodeText(bytes, step.charset) ?? '')
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

/** Some programs count the terminating NUL of a C string in. */
function trimNuls(text: string): string {
  return text.replace(/\0+$/, '')
}
