/** The formats in which one item is offered to other programs. @module */

import type { Blob } from '../ports/blob.ts'
import type { OfferedContent } from '../ports/system-clipboard.ts'
import { formatCopiedFiles, formatUriList } from './uri-list.ts'

/** Bytes that are read when somebody pastes. */
export type OfferedBytes = Pick<Blob, 'size' | 'open'>

/** One of the formats of an item. */
export interface OfferedFormat {
  readonly target: string
  /** Name of the type of the answer. */
  readonly type: string
  readonly bytes: OfferedBytes
}

/** Only characters that Latin-1 has: one byte for each. */
const IS_LATIN_1 = /^[\0-\xff]*$/

/** The formats of a list of files, for file managers. */
const FILE_FORMATS = [
  ['text/uri-list', formatUriList],
  ['x-special/gnome-copied-files', formatCopiedFiles],
] as const

/**
 * Everything that `content` is offered as. Text is offered as `STRING`, which is Latin-1, only when
 * nothing is lost. Files are offered to file managers as files and to everybody else as paths,
 * one in a line.
 */
export function offeredFormats(content: OfferedContent): readonly OfferedFormat[] {
  switch (content.kind) {
    case 'text':
      return textFormats(content.text)
    case 'image':
      return [sameType(content.mediaType, content.blob)]
    case 'files': {
      const { paths } = content
      const asFiles = FILE_FORMATS.map(([target, format]) =>
        sameType(target, bytesOf(format(paths))),
      )
      return [...asFiles, ...textFormats(paths.join('\n'))]
    }
  }
}

/** A format whose bytes are made when somebody pastes. */
export interface LateFormat {
  readonly target: string
  readonly bytes: () => Promise<OfferedBytes>
}

/** The formats in which file managers paste an image: it is saved when one of them is asked for. */
export function imageFileFormats(content: OfferedContent): readonly LateFormat[] {
  const file = content.kind === 'image' ? content.file : undefined
  if (file === undefined) return []
  return FILE_FORMATS.map(([target, format]) => ({
    target,
    bytes: async () => bytesOf(format([await file.save()])),
  }))
}

function textFormats(text: string): readonly OfferedFormat[] {
  const bytes = bytesOf(text)
  return [
    sameType('UTF8_STRING', bytes),
    sameType('text/plain;charset=utf-8', bytes),
    sameType('text/plain', bytes),
    // `TEXT` leaves the encoding to the owner, which names it in the answer.
    { target: 'TEXT', type: 'UTF8_STRING', bytes },
    ...(IS_LATIN_1.test(text) ? [sameType('STRING', bytesOf(text, 'latin1'))] : []),
  ]
}

function sameType(target: string, bytes: OfferedBytes): OfferedFormat {
  return { target, type: target, bytes }
}

function bytesOf(text: string, encoding?: 'latin1'): OfferedBytes {
  return bytesInMemory(Buffer.from(text, encoding))
}

/** Reads `bytes` as those of a file are read. */
export function bytesInMemory(bytes: Uint8Array): OfferedBytes {
  return {
    size: bytes.length,
    open: async () => ({
      read: async (target, position) => {
        const part = bytes.subarray(position, position + target.length)
        target.set(part)
        return part.length
      },
      close: async () => undefined,
    }),
  }
}
