/**
 * Sends the bytes of a file. Where the server offers it, a large one goes on after a break instead
 * of beginning again: draft-ietf-httpbis-resumable-upload-12.
 * @module
 */

import { backOff } from '../lib/back-off.ts'
import { ClientError, mayPass } from './client-error.ts'
import { exchange, filePath, type Outgoing } from './exchange.ts'
import { MIN_RESUMABLE_BYTES, ResumableUpload } from './resumable-upload.ts'
import type { ByteSource, Server } from './server.ts'
import { sleep } from '../lib/clock.ts'

/** The name and type of an upload. */
export interface Upload {
  readonly dataName: string
  readonly mediaType: string
  /** Sent with what begins it. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** See {@link ResumableUpload}. */
const MAX_BEGINNINGS = 2

/** Attempts in a row that bring no byte further. */
const MAX_FAILURES = 6

// Printable ASCII, so that it can stand in a header, and a slash.
const MEDIA_TYPE = /^[!-~]+\/[ -~]+$/

/** Sends bytes in one request. @throws {ClientError} */
export async function putFile(server: Server, body: ByteSource, upload: Upload): Promise<void> {
  await exchange(server, { ...putOf(upload), body }, () => Promise.resolve())
}

/**
 * Sends bytes, and goes on after a break where the server can. An upload that the caller aborts is
 * given up there as well.
 *
 * @throws {ClientError}
 */
export async function sendFile(server: Server, body: ByteSource, upload: Upload): Promise<void> {
  const resumes = isLarge(body) && (await offersResumption(server, upload))
  return resumes ? sendResumably(server, body, upload) : putFile(server, body, upload)
}

/** The same where the server is known to resume uploads. @throws {ClientError} */
export function sendOffered(server: Server, body: ByteSource, upload: Upload): Promise<void> {
  return isLarge(body) ? sendResumably(server, body, upload) : putFile(server, body, upload)
}

function isLarge({ size }: ByteSource): boolean {
  return size >= MIN_RESUMABLE_BYTES
}

/** Whether the server resumes uploads; those that do know batches, too. @throws {ClientError} */
export async function offersResumption(server: Server, upload: Upload): Promise<boolean> {
  const { path, signal } = putOf(upload)
  try {
    return await exchange(server, { method: 'OPTIONS', path, signal }, async ({ response }) => {
      return response.headers.has('Upload-Limit')
    })
  } catch (error) {
    const isRefused = error instanceof ClientError && error.status !== undefined
    if (isRefused && error.code !== 'UNAUTHORIZED') return false
    throw error
  }
}

async function sendResumably(server: Server, body: ByteSource, upload: Upload): Promise<void> {
  const { clock, random } = server
  const { signal = new AbortController().signal } = upload
  const sending = new ResumableUpload(
    {
      base: server.base,
      put: putOf(upload),
      maxBeginnings: MAX_BEGINNINGS,
      ask: (outgoing) => exchange(server, outgoing, async ({ response }) => response.headers),
    },
    body,
  )
  let failures = 0
  for (;;) {
    const { offset } = sending
    try {
      return await sending.attempt(signal)
    } catch (error) {
      if (signal.aborted) sending.giveUp()
      if (signal.aborted || !(error instanceof ClientError)) throw error
      failures = sending.offset > offset ? 1 : failures + 1
      const isPassing = sending.isLost(error) || mayPass(error)
      if (!isPassing || failures > MAX_FAILURES) throw error
      const delay = backOff(failures, { random, retryAfterMs: error.retryAfterMs })
      // Aborted, the next attempt ends it, and gives it up.
      await sleep(clock, delay, signal).catch(() => undefined)
    }
  }
}

function putOf({
  dataName,
  mediaType,
  headers: more,
  signal,
}: Upload): Outgoing & { readonly method: 'PUT' } {
  if (!MEDIA_TYPE.test(mediaType)) {
    throw new ClientError('ARGUMENT_INVALID', { reason: 'the media type is malformed' })
  }
  const headers = { ...more, 'Content-Type': mediaType }
  return { method: 'PUT', path: filePath(dataName), headers, signal }
}

/** A new name of a batch. A page may have no secure context, and so no `randomUUID`. */
export function newBatch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The headers of an upload in a batch. @param number Its place, from 1 on. */
export function batchHeaders(batch: string, number: number): Readonly<Record<string, string>> {
  return { 'X-Clipgate-Batch': `${batch}/${number}` }
}
