/**
 * Makes a copy out of the bytes that a clipboard helper read.
 *
 * @module
 */

import { access } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { arrayOf, decodeString } from '../../lib/decoder.ts'
import type { CopiedContent } from '../../ports/system-clipboard.ts'
import { withoutTrailingNuls } from '../trailing-nuls.ts'
import type { FormatToRead } from './clipboard-dialect.ts'

const decodePaths = arrayOf(decodeString)

/** `undefined` when there is nothing in it: another format of the same copy may be better. */
export async function contentOfCopy(
  format: FormatToRead,
  bytes: Uint8Array,
): Promise<CopiedContent | undefined> {
  switch (format.kind) {
    case 'image':
      return bytes.length === 0 ? undefined : { kind: 'image', mediaType: format.mediaType, bytes }
    case 'files': {
      const paths = await existing(parsePaths(decodeUtf8(bytes)))
      return paths.length === 0 ? undefined : { kind: 'files', paths }
    }
    case 'text': {
      const text = withoutTrailingNuls(decodeUtf8(bytes))
      return text === '' ? undefined : { kind: 'text', text }
    }
  }
}

/** @throws {Error} Without what was copied in its message. */
function parsePaths(json: string): readonly string[] {
  try {
    return decodePaths(JSON.parse(json))
  } catch {
    throw new Error('The clipboard helper gave a list of files that cannot be read')
  }
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const there = await Promise.all(paths.map(isThere))
  return paths.filter((_, index) => there[index])
}

async function isThere(path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false
  return access(path).then(
    () => true,
    () => false,
  )
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
