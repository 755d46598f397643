/**
 * Decodes what the server answers: documents and push results.
 *
 * Absent fields have their empty values, since other servers of the protocol leave some out; what
 * is there must be of its type. A `dataName` is safe to use as a file name, or there is none.
 * @module
 */

import { isContentId, type ContentId } from '../core/content-id.ts'
import { isDataName, type ItemType, parseItemType } from '../core/item.ts'
import { isStamp, type Stamp } from '../core/stamp.ts'
import { ClientError } from './client-error.ts'

/** The clipboard document. */
export interface ClipboardDocument {
  readonly type: ItemType
  /** The content of a Text; for other types a name or a preview. */
  readonly text: string
  /** Whether there are bytes to download. */
  readonly hasData: boolean
  /** Bytes of the content. */
  readonly size: number
  /**
   * SHA-256 in hex, of the bytes alone or together with the `dataName`: that depends on the server.
   * Empty when the server tells none.
   */
  readonly hash: string
  /** The wire name of the bytes; empty when there are none. */
  readonly dataName: string
  /** Absent when the server has no item, or does not know content ids. */
  readonly contentId: ContentId | undefined
}

/** A document as other daemons get it. Phones do not get these fields. */
export interface StampedDocument extends ClipboardDocument {
  readonly stamp?: Stamp | undefined
  /** The media type of the bytes; absent for a Text. */
  readonly mediaType?: string | undefined
}

/** Decodes a document. @throws {ClientError} `BAD_ANSWER`, naming the field. */
export function decodeDocument(value: unknown): StampedDocument {
  const fields = decodeObject(value)
  const type = parseItemType(readString(fields, 'type'))
  if (type === undefined) throw badField('type')
  const dataName = readString(fields, 'dataName')
  const hasData = read(fields, 'hasData') ?? false
  if (typeof hasData !== 'boolean') throw badField('hasData')
  if (dataName === '' ? hasData : !isDataName(dataName)) throw badField('dataName')
  const contentId = read(fields, 'contentId')
  if (contentId !== undefined && !isContentId(contentId)) throw badField('contentId')
  const text = readString(fields, 'text')
  const hash = readString(fields, 'hash')
  const stamp = readStamp(fields)
  const mediaType = readOptional(fields, 'mediaType')
  const size = read(fields, 'size') ?? 0
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw badField('size')
  const document = { type, text, hasData, size, hash, dataName, contentId }
  return { ...document, ...(stamp && { stamp }), ...(mediaType && { mediaType }) }
}

/** Decodes the answer to a push. @throws {ClientError} `BAD_ANSWER`. */
export function decodePushResult(value: unknown): ContentId {
  const contentId = read(decodeObject(value), 'contentId')
  if (!isContentId(contentId)) throw badField('contentId')
  return contentId
}

type Fields = ReadonlyMap<string, unknown>

function decodeObject(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return new Map(Object.entries(value))
  }
  throw new ClientError('BAD_ANSWER', { reason: 'not a JSON object' })
}

function readString(fields: Fields, name: string): string {
  return readOptional(fields, name) ?? ''
}

function readOptional(fields: Fields, name: string): string | undefined {
  const value = read(fields, name)
  if (value !== undefined && typeof value !== 'string') throw badField(name)
  return value
}

function readStamp(fields: Fields): Stamp | undefined {
  const stamp = { at: read(fields, 'stampedAt'), member: read(fields, 'stampedBy') }
  if (stamp.at === undefined && stamp.member === undefined) return undefined
  if (!isStamp(stamp)) throw badField('stampedAt')
  return stamp
}

/** `null` counts as absent. */
function read(fields: Fields, name: string): unknown {
  return fields.get(name) ?? undefined
}

function badField(name: string): ClientError {
  return new ClientError('BAD_ANSWER', { reason: `bad "${name}"` })
}
