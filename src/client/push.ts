/** Makes a text or a file the current item of the server. @module */

import type { ContentId } from '../core/content-id.ts'
import { KIB, MIB } from '../core/limits.ts'
import { OCTET_STREAM } from '../core/media-type.ts'
import { readJson } from './answer.ts'
import {
  batchHeaders,
  newBatch,
  offersResumption,
  putFile,
  sendFile,
  sendOffered,
} from './upload.ts'
import { ClientError } from './client-error.ts'
import { decodePushResult, type ClipboardDocument } from './decode-document.ts'
import { exchange } from './exchange.ts'
import type { Server } from './server.ts'

/** A longer document might be over the 16 MiB that the server takes; its text goes as a file. */
const MAX_INLINE_BYTES: number = 15 * MIB

/** Characters of the preview of a text that goes as a file; only other servers show it, in logs. */
const PREVIEW_LENGTH = 256

const MAX_RESULT_BYTES: number = 64 * KIB

/** Options of every push. */
export interface PushOptions {
  readonly signal?: AbortSignal | undefined
}

/** Options of `pushFile`. */
export interface PushFileOptions extends PushOptions {
  /** The name of the bytes on the wire: a file name, without a path. */
  readonly dataName: string
  /** The type of the blob, when absent. The server looks at the bytes when that says nothing. */
  readonly mediaType?: string | undefined
}

/** Makes a text the current item. @throws {ClientError} */
export async function pushText(
  server: Server,
  text: string,
  { signal }: PushOptions,
): Promise<ContentId> {
  // Lone surrogates cannot be sent; the web replaces them in the same way.
  const whole = text.toWellFormed()
  const document = encode({ type: 'Text', text: whole, hasData: false })
  if (document.byteLength <= MAX_INLINE_BYTES) return pushDocument(server, document, signal)

  const blob = new Blob([whole])
  const dataName = `clipboard-${randomName()}.txt`
  await putFile(server, blob, { dataName, mediaType: 'text/plain; charset=utf-8', signal })
  const preview = whole.slice(0, PREVIEW_LENGTH).toWellFormed()
  const fields = { type: 'Text', text: preview, hasData: true, dataName, size: blob.size }
  return pushDocument(server, encode(fields), signal)
}

/** Makes a file the current item. @throws {ClientError} */
export async function pushFile(
  server: Server,
  blob: Blob,
  { dataName, mediaType = blob.type, signal }: PushFileOptions,
): Promise<ContentId> {
  await sendFile(server, blob, { dataName, mediaType: mediaType || OCTET_STREAM, signal })
  return pushDocument(server, encode(describeFile(blob, dataName)), signal)
}

/** A file of several. */
export interface FileToPush extends Omit<PushFileOptions, 'signal'> {
  readonly blob: Blob
}

/**
 * Makes files the current item: several are a Group. Their names need not differ, nor those of what
 * other programs send with this password at the same time.
 *
 * @throws {ClientError}
 */
export async function pushFiles(
  server: Server,
  files: readonly FileToPush[],
  { signal }: PushOptions,
): Promise<ContentId> {
  const batch = newBatch()
  const uploads = files.map(({ blob, dataName, mediaType = blob.type }, index) => {
    const headers = batchHeaders(batch, index + 1)
    return { blob, dataName, mediaType: mediaType || OCTET_STREAM, headers, signal }
  })
  const [first, ...others] = uploads
  if (first === undefined) throw new ClientError('ARGUMENT_INVALID', { reason: 'there is no file' })
  if (!(await offersResumption(server, first))) {
    if (others.length === 0) return pushFile(server, first.blob, first)
    throw new ClientError('ARGUMENT_INVALID', { reason: 'the server takes one file at a time' })
  }
  for (const { blob, ...upload } of uploads) await sendOffered(server, blob, upload)
  const members = uploads.map((_, index) => index + 1)
  const isOne = others.length === 0
  const item = isOne ? describeFile(first.blob, first.dataName) : { type: 'Group', hasData: true }
  return pushDocument(server, encode({ ...item, batch, members }), signal)
}

/** The server makes it an Image when it is one. */
function describeFile({ size }: Blob, dataName: string): Readonly<Record<string, unknown>> {
  return { type: 'File', text: dataName, hasData: true, dataName, size }
}

/** A document, with what only servers of the same group understand. */
export interface OutgoingDocument extends Omit<ClipboardDocument, 'contentId'> {
  readonly stampedAt: number
  readonly stampedBy: string
  /** The type of the bytes, for a server that has them already. */
  readonly mediaType?: string | undefined
}

/**
 * Sends a document as it is.
 *
 * @throws {ClientError} `NOT_FOUND` with the problem `NOTHING_STAGED` when the server does not have
 *   its bytes.
 */
export async function putDocument(
  server: Server,
  document: OutgoingDocument,
  { signal }: PushOptions,
): Promise<ContentId> {
  return pushDocument(server, encode({ ...document }), signal)
}

async function pushDocument(
  server: Server,
  body: Uint8Array<ArrayBuffer>,
  signal: AbortSignal | undefined,
): Promise<ContentId> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  const push = { method: 'PUT', path: '/Sync.json', headers, body, signal } as const
  return exchange(server, push, async (answer) =>
    decodePushResult(await readJson(answer, MAX_RESULT_BYTES)),
  )
}

function encode(document: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(document))
}

/** Uploads of one device that have the same name replace each other. */
function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
