/**
 * Resumable uploads: `PUT /file/{dataName}` with `Upload-Complete`, and the upload resources that
 * it makes, `/file-uploads/{token}`. As draft-ietf-httpbis-resumable-upload-12 has them, whose
 * sections are cited here.
 * @module
 */

import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { DomainError } from '../core/domain-error.ts'
import type { Call, Handler } from '../http/call.ts'
import { found, HttpError } from '../http/http-error.ts'
import { declaredLength, StreamedBody, tooLarge } from '../http/read-body.ts'
import { empty, type FlatHeaders, type Reply } from '../http/reply.ts'
import { formatBooleanField, parseBooleanField, parseCountField } from '../http/field-values.ts'
import { readStart } from '../lib/read-bytes.ts'
import type { Principal } from '../ports/device-registry.ts'
import type { PartialHold, PartialUpload, ReceivedUpload } from '../ports/staging-area.ts'
import { toHttpError } from './domain-errors.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { checkDigest, checkWhole, readDigests } from './transfer-hash.ts'
import { readMember } from './wire/batch.ts'

/** The path of the upload resources. */
export const UPLOADS_PATH = '/file-uploads'

/** The version of the draft: interim answers are for clients of the same one only. */
const INTEROP_VERSION = 9

/** The media type of a piece: section 6. */
export const PARTIAL_UPLOAD = 'application/partial-upload'

/** Bytes between two interim answers that tell a client how far its upload has come. */
const PROGRESS_BYTES: number = 16 * 1024 * 1024

const INTERIM = '104 Upload Resumption Supported'

/** The parts that the handlers of uploads need. */
export type UploadDeps = Pick<HandlerDeps, 'staging' | 'maxFileBytes' | 'transfers'> & {
  /** Whether some clients reach the gateway below a path. */
  readonly hasPrefix: boolean
}

/** Fields that proxies add. */
const PROXY_FIELDS = ['x-forwarded-for', 'forwarded', 'via'] as const

type UploadCall = Call<Principal, { readonly token: string }>
type UploadHandler = Handler<Principal, { readonly token: string }>

/** The part of an upload that a request brings. */
interface Fields {
  /** Whether its body is all of the upload, or the rest of it. */
  readonly isLast: boolean
  /** The offset at which its body begins. */
  readonly offset: number
}

/** Answers with the limits of uploads: section 4.1.4. */
export function getUploadLimits({ maxFileBytes }: UploadDeps): Handler<Principal> {
  const limits = formatLimits(maxFileBytes)
  return () => empty(204, ['Allow', 'GET, HEAD, PUT, OPTIONS', ...limits])
}

/** The upload that a `PUT /file/{dataName}` begins. */
export interface Creation {
  /** Whether its body is the whole. */
  readonly isLast: boolean
  readonly length: number | undefined
  /**
   * Whether its client could go on after a break: it is told where before its body has come, or
   * sends no more than a part of it.
   */
  readonly isResumable: boolean
}

/**
 * Reads how an upload begins; `undefined` when it is a plain one, whose size is not judged here.
 *
 * @throws {HttpError} `UPLOAD_LENGTH_INCONSISTENT`, `BODY_TOO_LARGE`.
 */
export function readCreation(call: Call, maxFileBytes: number): Creation | undefined {
  const isLast = readCompleteness(call)
  if (isLast === undefined) return undefined
  const length = readLength(call, { isLast, offset: 0 })
  const size = Math.max(declaredLength(call.request) ?? 0, length ?? 0)
  if (size > maxFileBytes) throw withState(tooLarge(maxFileBytes), maxFileBytes)
  return { isLast, length, isResumable: !isLast || hearsInterim(call) }
}

/** Begins an upload: section 4.2. */
export async function createUpload(
  deps: UploadDeps,
  call: Call<Principal>,
  dataName: string,
  { isLast, length }: Creation,
): Promise<Reply> {
  const { staging, maxFileBytes } = deps
  const { id: deviceId, passwordHash } = call.principal
  const contentType = call.request.headers['content-type']
  const { whole: sha256 } = readDigests(call.request)
  const member = readMember(call.request.headers)
  const what = { dataName, contentType, declaredSize: length, sha256, member }
  const upload = await staging.begin({ deviceId, passwordHash, ...what })
  // Seen from /file/{dataName}, this is right below any path, and without one.
  const root = deps.hasPrefix ? '..' : ''
  const place = ['Location', `${root}${UPLOADS_PATH}/${upload.token}`]
  const limits = formatLimits(maxFileBytes, upload.remainingMs)
  sendInterim(call, [...place, ...limits])
  return hold(deps, call, upload, async (held) => {
    const reply = await receive(deps, call, upload, held, isLast)
    return reply ?? empty(201, [...place, ...limits, ...stateOf(upload)])
  })
}

/** Tells how much of an upload has come: section 4.3. */
export function getUpload(deps: UploadDeps): UploadHandler {
  return async (call) => {
    const upload = findUpload(deps, call)
    // Whoever was sending has lost its connection without a word, and what comes is of no use.
    const held = await upload.seize()
    held.release()
    const { length, remainingMs } = upload
    const known = length === undefined ? [] : ['Upload-Length', String(length)]
    const limits = formatLimits(deps.maxFileBytes, remainingMs)
    return empty(204, [...stateOf(upload), ...known, ...limits])
  }
}

/** Appends to an upload: section 4.4. */
export function patchUpload(deps: UploadDeps): UploadHandler {
  return async (call) => {
    const upload = findUpload(deps, call)
    const { headers } = call.request
    if (mediaTypeOf(headers['content-type']) !== PARTIAL_UPLOAD) {
      throw new HttpError('UNSUPPORTED_MEDIA_TYPE', { headers: ['Accept-Patch', PARTIAL_UPLOAD] })
    }
    const isLast = readCompleteness(call)
    const offset = parseCountField(headers['upload-offset'])
    if (isLast === undefined || offset === undefined) {
      const detail = 'Upload-Complete and Upload-Offset are needed'
      throw new HttpError('BAD_REQUEST', detail)
    }
    return hold(deps, call, upload, async (held) => {
      if (offset !== upload.offset) throw mismatch(upload, offset)
      const length = readLength(call, { isLast, offset }, upload.length)
      if (upload.isComplete) return repeatAnswer(call, isLast)
      const end = offset + (declaredLength(call.request) ?? 0)
      if (Math.max(end, length ?? 0) > deps.maxFileBytes) throw tooLarge(deps.maxFileBytes)
      if (length !== undefined && length < offset) {
        throw inconsistent(`${offset} bytes have come already`)
      }
      if (length !== undefined) await held.setLength(length)
      const reply = await receive(deps, call, upload, held, isLast)
      return reply ?? empty(204, stateOf(upload))
    })
  }
}

/** Gives an upload up: section 4.5. */
export function deleteUpload(deps: UploadDeps): UploadHandler {
  return async (call) => {
    const held = await findUpload(deps, call).seize()
    try {
      await held.discard()
    } finally {
      held.release()
    }
    return empty(204)
  }
}

/**
 * Works on an upload as the only one. Whoever is seized by a later request loses its connection:
 * section 4.6.
 */
async function hold(
  { maxFileBytes }: UploadDeps,
  call: Call,
  upload: PartialUpload,
  work: (held: PartialHold) => Promise<Reply>,
): Promise<Reply> {
  const held = await upload.seize()
  try {
    return await work(held)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'UPLOAD_SEIZED') call.hangUp()
    throw withState(toHttpError(error), maxFileBytes)
  } finally {
    held.release()
  }
}

/** Takes the body of a request. @returns The answer to the whole upload, when it was the last. */
async function receive(
  { transfers }: UploadDeps,
  call: Call<Principal>,
  upload: PartialUpload,
  held: PartialHold,
  isLast: boolean,
): Promise<Reply | undefined> {
  const { offset: start, dataName: name, length: total } = upload
  let told = start
  // The storage knows how much there may be, with what has come before.
  const body = new StreamedBody(call, Infinity)
  const { content, whole } = readDigests(call.request)
  const end = transfers?.begin({
    ...{ direction: 'in', deviceId: call.principal.id, name, total },
    bytes: () => start + body.received,
  })
  try {
    await held.append(content === undefined ? body : checkDigest(body, content), (offset) => {
      // Nobody hears of bytes that may have to go again.
      if (offset - told < PROGRESS_BYTES || content !== undefined) return
      told = offset
      sendInterim(call, ['Upload-Offset', String(offset)])
    })
  } catch (error) {
    const isWrong = error instanceof HttpError && error.code === 'DIGEST_MISMATCH'
    if (isWrong) await held.truncate(start)
    throw error
  } finally {
    end?.()
  }
  if (!isLast) return undefined
  const { length, offset } = upload
  if (length !== undefined && offset !== length) throw inconsistent(`only ${offset} bytes came`)
  const received = await held.finish()
  await checkWhole(received, upload.source.sha256, whole)
  await stage(received, upload)
  return completed()
}

/** Has a whole upload wait for its document. */
async function stage(
  whole: ReceivedUpload,
  { dataName, source: { contentType, member } }: PartialUpload,
): Promise<void> {
  const head = await readStart(whole.blob, SNIFF_LENGTH).catch(async (error: unknown) => {
    await whole.discard()
    throw error
  })
  await whole.stage({ dataName, mediaType: classifyMediaType(contentType, head, dataName), member })
}

/** Answers as `PUT /file/{dataName}` does to all bytes at once, when it is told that they are. */
export function completed(): Reply {
  return empty(200, ['Upload-Complete', formatBooleanField(true)])
}

/** The last answer may have been lost: section 4.4.2. */
function repeatAnswer(call: Call, isLast: boolean): Reply {
  if (isLast && declaredLength(call.request) === 0) return completed()
  throw new HttpError('CONFLICT', 'the upload is complete')
}

function findUpload({ staging }: UploadDeps, { principal, params }: UploadCall): PartialUpload {
  return found(staging.find(principal.id, params.token))
}

/**
 * The length of the whole, as far as it is known: section 4.1.3.
 *
 * @param known What earlier requests have said.
 * @throws {HttpError} `UPLOAD_LENGTH_INCONSISTENT` when it was said in two ways.
 */
function readLength(
  { request }: Pick<Call, 'request'>,
  { isLast, offset }: Fields,
  known?: number,
): number | undefined {
  const said = parseCountField(request.headers['upload-length'])
  const rest = isLast ? declaredLength(request) : undefined
  const counted = rest === undefined ? undefined : offset + rest
  const all = [known, said, counted].filter((length) => length !== undefined)
  if (new Set(all).size > 1) throw inconsistent(`${all.join(' and ')} bytes`)
  return all[0]
}

function readCompleteness({ request }: Pick<Call, 'request'>): boolean | undefined {
  return parseBooleanField(request.headers['upload-complete'])
}

/**
 * Whether interim answers come to the client. nginx before 1.29 takes one for the answer itself; so
 * nothing that came through a proxy gets any.
 */
function hearsInterim({ request }: Pick<Call, 'request'>): boolean {
  const { headers, httpVersionMinor } = request
  if (parseCountField(headers['upload-draft-interop-version']) !== INTEROP_VERSION) return false
  return httpVersionMinor > 0 && PROXY_FIELDS.every((name) => headers[name] === undefined)
}

/** Tells a client of the same version of the draft what it may need after a break: section 5. */
function sendInterim(call: Call, headers: FlatHeaders): void {
  if (!hearsInterim(call)) return
  const version = ['Upload-Draft-Interop-Version', String(INTEROP_VERSION)]
  call.sendInterim(INTERIM, [...version, ...headers])
}

function stateOf({ offset, isComplete }: PartialUpload): FlatHeaders {
  return ['Upload-Offset', String(offset), 'Upload-Complete', formatBooleanField(isComplete)]
}

/** The upload is not done, whatever became of the request. */
function withState(error: HttpError, maxFileBytes: number): HttpError {
  const incomplete = ['Upload-Complete', formatBooleanField(false)]
  return withLimits(error.withHeaders(incomplete), maxFileBytes)
}

/** Section 4.1.4: whoever is refused for a limit is told the limits. */
export function withLimits(error: HttpError, maxFileBytes: number): HttpError {
  return error.code === 'BODY_TOO_LARGE' ? error.withHeaders(formatLimits(maxFileBytes)) : error
}

function formatLimits(maxFileBytes: number, remainingMs?: number): FlatHeaders {
  const age = remainingMs === undefined ? '' : `, max-age=${Math.ceil(remainingMs / 1000)}`
  return ['Upload-Limit', `max-size=${maxFileBytes}${age}`]
}

function mismatch({ offset }: PartialUpload, provided: number): HttpError {
  return new HttpError('UPLOAD_OFFSET_MISMATCH', {
    headers: ['Upload-Offset', String(offset)],
    members: { 'expected-offset': offset, 'provided-offset': provided },
  })
}

function inconsistent(detail: string): HttpError {
  return new HttpError('UPLOAD_LENGTH_INCONSISTENT', detail)
}

function mediaTypeOf(field: string | undefined): string | undefined {
  return field?.split(';', 1)[0]?.trim().toLowerCase()
}
