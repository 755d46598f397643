/** Reads the document of the current item. @module */

import { KIB, MAX_METADATA_BYTES } from '../core/limits.ts'
import { isLongerThan } from '../core/item.ts'
import { readJson, tooLong } from './answer.ts'
import { ClientError } from './client-error.ts'
import { decodeDocument, type ClipboardDocument, type StampedDocument } from './decode-document.ts'
import { exchange } from './exchange.ts'
import type { Server } from './server.ts'

/** There is more in a document than its text. */
const MAX_DOCUMENT_BYTES: number = MAX_METADATA_BYTES + 64 * KIB

// RFC 9110, 8.8.3.
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** A document, and what to ask with whether there is a newer one. */
export interface LatestDocument extends ClipboardDocument {
  /** Changes with each activation of an item, also of the same one. */
  readonly etag: string | undefined
}

/** A {@link LatestDocument} with what only daemons are told. */
export interface LatestStamped extends StampedDocument, LatestDocument {}

/** Options of {@link getLatest}. */
export interface LatestOptions {
  /** The `etag` of the document that the caller already has. */
  readonly etag?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Reads the current document. @throws {ClientError} */
export function getLatest(
  server: Server,
  options: Omit<LatestOptions, 'etag'>,
): Promise<LatestStamped>
/** Reads the current document; `undefined` when it still is the one with `etag`. */
export function getLatest(
  server: Server,
  options: LatestOptions,
): Promise<LatestStamped | undefined>
/** Implements both overloads. */
export async function getLatest(
  server: Server,
  { etag, signal }: LatestOptions,
): Promise<LatestStamped | undefined> {
  checkEntityTag(etag)
  const condition = etag === undefined ? {} : { 'If-None-Match': etag }
  const headers = { Accept: 'application/json', ...condition }
  const request = { method: 'GET', path: '/Sync.json', headers, signal } as const
  return exchange(server, request, async (answer) => {
    const { response } = answer
    if (response.status === 304 && etag !== undefined) return undefined
    const document = decodeDocument(await readJson(answer, MAX_DOCUMENT_BYTES))
    if (isLongerThan(document.text, MAX_METADATA_BYTES)) throw tooLong()
    return { ...document, etag: readEntityTag(response.headers) }
  })
}

/** Whether there is an item at all. Without one, the document is that of an empty text. */
export function hasItem({ text, hasData, contentId }: ClipboardDocument): boolean {
  return text !== '' || hasData || contentId !== undefined
}

/** Whether both describe one activation of one item. */
export function isSameDocument(a: LatestDocument, b: LatestDocument): boolean {
  if (a.contentId !== b.contentId || a.etag !== b.etag) return false
  if (a.etag !== undefined) return true
  // Some servers of the protocol have no entity tags.
  const isSame = a.type === b.type && a.text === b.text && a.size === b.size
  return isSame && a.hash === b.hash && a.dataName === b.dataName
}

/** @throws {ClientError} `ARGUMENT_INVALID` when `etag` cannot stand in a header. */
export function checkEntityTag(etag: string | undefined): void {
  if (etag === undefined || ENTITY_TAG.test(etag)) return
  throw new ClientError('ARGUMENT_INVALID', { reason: 'the etag is not an entity tag' })
}

/** One that is malformed could not be sent back. */
function readEntityTag(headers: Headers): string | undefined {
  const etag = headers.get('ETag') ?? ''
  return ENTITY_TAG.test(etag) ? etag : undefined
}
