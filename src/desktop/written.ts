/**
 * What was put on the clipboard, for recognising it when it comes back.
 *
 * Text is the same whatever its line ends and trailing NULs: systems convert both. Files are the
 * same whatever the normal form of their names, and as the text that they are offered as beside
 * the list of files.
 *
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { withoutTrailingNuls } from './trailing-nuls.ts'
import { formatCopiedFiles, formatUriList } from './uri-list.ts'
import { WrittenImage, type CopiedImage } from './written-image.ts'

export interface Written {
  readonly kind: OfferedContent['kind']
  /** The write has succeeded. */
  confirm(): void
  /** For all but images, which are never the same as anything else. */
  isSame(copied: CopiedContent): boolean
  isSameImage(copied: CopiedImage, signal: AbortSignal): Promise<boolean>
}

export function rememberWritten(content: OfferedContent, clock: Clock): Written {
  switch (content.kind) {
    case 'text':
      return unlikeImages(
        'text',
        (copied) => copied.kind === 'text' && isSameText(copied.text, content.text),
      )
    case 'files':
      return unlikeImages('files', (copied) => isSameFiles(copied, content.paths))
    case 'image':
      return new WrittenImage(content, clock)
  }
}

function unlikeImages(kind: Written['kind'], isSame: Written['isSame']): Written {
  return { kind, isSame, confirm: () => undefined, isSameImage: async () => false }
}

function isSameText(a: string, b: string): boolean {
  return a === b || normalise(a) === normalise(b)
}

function isSameFiles(copied: CopiedContent, paths: readonly string[]): boolean {
  if (copied.kind === 'files')
    return copied.paths.join('\0').normalize() === paths.join('\0').normalize()
  if (copied.kind !== 'text') return false
  const texts = [paths.join('\n'), formatUriList(paths), formatCopiedFiles(paths)]
  return texts.some((text) => isSameText(text.trimEnd(), copied.text.trimEnd()))
}

function normalise(text: string): string {
  // Encoding it has replaced lone surrogates.
  return withoutTrailingNuls(text.toWellFormed()).replace(/\r\n?/g, '\n')
}
