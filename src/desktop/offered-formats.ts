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
  /** Made when somebody pastes. */
  readonly bytes: () => Promise<OfferedBytes>
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
      return [sameType(content.mediaType, async () => content.blob)]
    case 'files': {
      const { paths } = content
      const asFiles = FILE_FORMATS.map(([target, format]) =>
        sameType(target, bytesOf(format(paths))),
      )
      return [...asFiles, ...textFormats(paths.join('\n'))]
    }
  }
}

/** The formats in which file managers paste an image: it is saved when one of them is asked for. */
export function imageFileFormats(content: OfferedContent): readonly OfferedFormat[] {
  const file = content.kind === 'image' ? content.file : undefined
  if (file === undefined) return []
  return FILE_FORMATS.map(([target, format]) =>
    sameType(target, async () => bytesOf(format([await file.save()]))()),
  )
}

function textFormats(text: string): readonly OfferedFormat[] {
  const targets = ['UTF8_STRING', 'text/plain;charset=utf-8', 'text/plain']
  const bytes = bytesOf(text)
  return [
    ...targets.map((target) => sameType(target, bytes)),
    // `TEXT` leaves the encoding to the owner, which names it in the answer.
    { ...sameType('UTF8_STRING', bytes), target: 'TEXT' },
    ...(IS_LATIN_1.test(text) ? [sameType('STRING', bytesOf(text, 'latin1'))] : []),
  ]
}

/** A format whose answers have its own name as their type. */
export function sameType(target: string, bytes: OfferedFormat['bytes']): OfferedFormat {
  return { target, type: target, bytes }
}

/** Encodes a text when somebody pastes it, once for all who do so at the same time. */
function bytesOf(text: string, encoding?: 'latin1'): OfferedFormat['bytes'] {
  let encoded: WeakRef<Uint8Array> | undefined
  return async () => {
    const bytes = encoded?.deref() ?? Buffer.from(text, encoding)
    encoded = new WeakRef(bytes)
    return bytesInMemory(bytes)
  }
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
