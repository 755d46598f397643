/**
 * What the panel may show of the current item: the beginning of a text, or a raster image.
 *
 * Nothing that a browser would run: no HTML, no SVG, whatever the item says that it is. And nothing
 * of a file, which may be anything.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { MIB } from '../core/limits.ts'
import { HttpError } from '../http/http-error.ts'
import type { Reply } from '../http/reply.ts'
import type { Blob, OpenBlob } from '../ports/blob.ts'
import type { StoredItem } from '../ports/latest-item.ts'

export type PreviewKind = 'text' | 'image'

const MAX_CHARACTERS = 2000

const MAX_IMAGE_BYTES: number = 20 * MIB

/** What every browser draws, and none runs. */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/bmp',
  'image/avif',
])

const HEADERS: readonly string[] = [
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  "sandbox; default-src 'none'",
  'Referrer-Policy',
  'no-referrer',
]

/** What the preview of an item is; `undefined` when there is none. */
export function previewKind({ item, blob }: StoredItem): PreviewKind | undefined {
  if (item.type === 'Text') return 'text'
  const isSmall = item.size <= MAX_IMAGE_BYTES
  const isImage = item.type === 'Image' && IMAGE_TYPES.has(essenceOf(item.mediaType))
  return blob !== undefined && isSmall && isImage ? 'image' : undefined
}

/** @throws {HttpError} `NOT_FOUND` when there is none. */
export function previewReply(stored: StoredItem | undefined): Reply {
  const kind = stored === undefined ? undefined : previewKind(stored)
  if (stored === undefined || kind === undefined) throw new HttpError('NOT_FOUND')
  const { item, blob } = stored
  const etag = `"${item.contentId}"`
  if (kind === 'text' || blob === undefined) {
    const headers = ['Content-Type', 'text/plain; charset=utf-8', ...HEADERS]
    return { status: 200, headers, body: beginningOf(item.text), etag }
  }
  const headers = ['Content-Type', essenceOf(item.mediaType), ...HEADERS]
  return { status: 200, headers, body: openable(blob), etag }
}

/** Characters are what people count, not halves of them. */
function beginningOf(text: string): string {
  return [...text.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join('')
}

/** A copied file may have gone since, which is no failure of ours. */
function openable(blob: Blob): Pick<Blob, 'size' | 'open'> {
  const open = async (): Promise<OpenBlob> => {
    try {
      return await blob.open()
    } catch (cause) {
      const isGone = cause instanceof DomainError && cause.code === 'BLOB_GONE'
      throw isGone ? new HttpError('NOT_FOUND', { cause }) : cause
    }
  }
  return { size: blob.size, open }
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase()
}
