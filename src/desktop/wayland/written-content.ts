/**
 * In which format content is put on the Wayland clipboard, and how it is recognised there.
 *
 * wl-copy offers one format, and the usual names of plain text beside it when it is a kind of text.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import type { CopiedContent, OfferedContent } from '../../ports/system-clipboard.ts'
import { offeredFormats, type OfferedBytes } from '../offered-formats.ts'
import { withoutTrailingNuls } from '../trailing-nuls.ts'

export interface WritableContent {
  readonly type: string
  readonly bytes: OfferedBytes
}

/** What was written. */
export interface WrittenContent {
  readonly content: OfferedContent
  /** Of the bytes, in hex. */
  readonly sha256: string
}

/**
 * The one format that suits most programs. Files are `text/uri-list`, which all of them paste:
 * `x-special/gnome-copied-files` is known to the file managers of GNOME and its like only, and
 * those read the list as well.
 */
export function writableContent(content: OfferedContent): WritableContent {
  const type = typeOf(content)
  const format = offeredFormats(content).find(({ target }) => target === type)
  if (format === undefined) throw new Error(`Cannot write what is not offered as "${type}"`)
  return { type, bytes: format.bytes }
}

/** Whether there is nothing to paste; such a text cannot be told from an empty clipboard. */
export function isEmpty(content: OfferedContent): boolean {
  return content.kind === 'text' && asRead(content.text) === ''
}

/** Whether `copied` is what was written: also when another program has taken it over. */
export function isSameContent({ content, sha256 }: WrittenContent, copied: CopiedContent): boolean {
  if (copied.kind === 'text') return content.kind === 'text' && asRead(content.text) === copied.text
  if (copied.kind === 'files') {
    return content.kind === 'files' && content.paths.join('\0') === copied.paths.join('\0')
  }
  if (content.kind !== 'image' || content.mediaType !== copied.mediaType) return false
  if (content.blob.size !== copied.bytes.length) return false
  return createHash('sha256').update(copied.bytes).digest('hex') === sha256
}

/** How a text that was written is read again. */
function asRead(text: string): string {
  return withoutTrailingNuls(text.toWellFormed())
}

function typeOf(content: OfferedContent): string {
  if (content.kind === 'image') return content.mediaType
  return content.kind === 'text' ? 'text/plain;charset=utf-8' : 'text/uri-list'
}
