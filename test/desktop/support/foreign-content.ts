/** How programs on Linux copy and paste content: as bytes of a media type. @module */

import { pathToFileURL } from 'node:url'
import { parseUriList } from '../../../src/desktop/uri-list.ts'
import type { CopiedContent } from '../../../src/ports/system-clipboard.ts'

/** The bytes that another program copies, and their type where it is not plain text. */
export function bytesToCopy(content: CopiedContent): [string | Uint8Array, string?] {
  if (content.kind === 'text') return [content.text]
  if (content.kind === 'image') return [content.bytes, content.mediaType]
  return [content.paths.map((path) => `${pathToFileURL(path)}\r\n`).join(''), 'text/uri-list']
}

/** What another program gets that pastes one kind; `undefined` when it is not offered. */
export async function pasteAs(
  kind: CopiedContent['kind'],
  paste: (type: string) => Promise<Buffer | undefined>,
): Promise<CopiedContent | undefined> {
  const types = { text: 'text/plain;charset=utf-8', image: 'image/png', files: 'text/uri-list' }
  const bytes = await paste(types[kind])
  if (bytes === undefined) return undefined
  if (kind === 'text') return { kind, text: bytes.toString() }
  if (kind === 'image') return { kind, mediaType: types.image, bytes }
  return { kind, paths: parseUriList(bytes.toString(), '') }
}
