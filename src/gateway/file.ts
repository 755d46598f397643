/** `/file/{dataName}`: the bytes of Image, File and Group items. @module */

import { isDataName } from '../core/item.ts'
import { MIN_TOLD_BYTES } from '../core/limits.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { attachment } from '../http/field-values.ts'
import type { Handler, Preparation } from '../http/call.ts'
import { found, HttpError } from '../http/http-error.ts'
import { declaredLength, StreamedBody, tooLarge } from '../http/read-body.ts'
import { empty, type Reply } from '../http/reply.ts'
import { peek } from '../lib/read-bytes.ts'
import type { Principal } from '../ports/device-registry.ts'
import type { Blob } from '../ports/blob.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { toHttpError } from './domain-errors.ts'
import {
  completed,
  createUpload,
  readCreation,
  withLimits,
  type UploadDeps,
} from './partial-uploads.ts'
import { followed } from './running-transfers.ts'
import { checkWhole, DIGEST_FIELDS, readDigests, TRANSFER_HASH } from './transfer-hash.ts'
import { BATCH_FIELD, findMember, readMember } from './wire/batch.ts'

type FileParams = { readonly dataName: string }
type FileHandler = Handler<Principal, FileParams>

/** Answers with the bytes of the latest item that has some, under its own name only. */
export function getFile({ latest, staging, transfers }: HandlerDeps): FileHandler {
  return async ({ params, principal }) => {
    const dataName = checkName(params.dataName)
    const stored = latest.binary
    if (stored === undefined || stored.item.dataName !== dataName) throw new HttpError('NOT_FOUND')
    await bindToRead(stored, principal, { latest, staging })
    return blobReply(stored, { deviceId: principal.id, transfers })
  }
}

/**
 * Notes that a device is given bytes: some clients ask so before they upload, and others push back
 * what they have read. Whoever uploads under the name of what is current already does neither.
 */
export async function bindToRead(
  { item }: Pick<StoredItem, 'item'>,
  { id }: Pick<Principal, 'id'>,
  { latest, staging }: Pick<HandlerDeps, 'latest' | 'staging'>,
): Promise<void> {
  const isCurrent = item === latest.current?.item
  await staging.bind(id, item.dataName, isCurrent ? item : undefined)
}

/** Who gets bytes, and where that is said. */
interface Taker extends Pick<HandlerDeps, 'transfers'> {
  readonly deviceId: string
}

/** Something with bytes that were hashed, or a part of it. */
export interface Downloadable {
  readonly item: Pick<
    StoredItem['item'],
    'type' | 'dataName' | 'mediaType' | 'contentHash' | 'contentId' | 'activatedAt'
  >
  readonly blob: Blob | undefined
  /** The number of a file of a Group. The hashes are those of the whole. */
  readonly member?: number
}

/** The bytes of an item, as something that a browser downloads and never runs. */
export function blobReply(
  { item, blob, member }: Downloadable,
  { deviceId, transfers }: Taker,
): Reply {
  const bytes = found(blob)
  const name = item.dataName
  const hash = member === undefined ? [TRANSFER_HASH, item.contentHash.toUpperCase()] : []
  const tag = member === undefined ? item.contentHash : `${item.contentHash}-${member}`
  return {
    status: 200,
    headers: [
      'Content-Type',
      item.mediaType,
      'Content-Disposition',
      attachment(name),
      'Content-Security-Policy',
      "sandbox; default-src 'none'",
      ...hash,
    ],
    body: transfers === undefined ? bytes : followed(bytes, { deviceId, name }, transfers),
    etag: `"${tag}"`,
  }
}

/** Whatever becomes of an upload, an earlier one of its name is not what its document means. */
export function bindEarlier({
  staging,
}: Pick<HandlerDeps, 'staging'>): Preparation<Principal, FileParams> {
  return async ({ request, params, principal }) => {
    const isAlone = request.headers[BATCH_FIELD] === undefined
    if (!isAlone && findMember(request.headers) !== undefined) return
    await staging.bind(principal.id, params.dataName)
  }
}

/** Streams an upload into staging, where it waits for its document. */
export function putFile(deps: HandlerDeps & UploadDeps): FileHandler {
  const { staging, maxFileBytes, transfers } = deps
  return async (call) => {
    const { headers } = call.request
    const declaredSize = declaredLength(call.request)
    // Most uploads are plain, and have none of these fields.
    const isPlain = headers['upload-complete'] === undefined
    const isAlone = headers[BATCH_FIELD] === undefined
    const isPromised = DIGEST_FIELDS.some((name) => headers[name] !== undefined)

    const creation = isPlain ? undefined : readCreation(call, maxFileBytes)
    if (creation === undefined && (declaredSize ?? 0) > maxFileBytes) {
      throw withLimits(tooLarge(maxFileBytes), maxFileBytes)
    }
    const dataName = checkName(call.params.dataName)
    if (creation?.isResumable === true) return createUpload(deps, call, dataName, creation)
    const { id: deviceId, passwordHash } = call.principal
    const member = isAlone ? undefined : readMember(headers)
    const source = { deviceId, passwordHash, declaredSize, dataName, member }
    await staging.admit(source)

    const body = new StreamedBody(call, maxFileBytes)
    const isTold = (declaredSize ?? Infinity) >= MIN_TOLD_BYTES
    const transfer = { direction: 'in', deviceId, name: dataName, total: declaredSize } as const
    const end = isTold && transfers?.begin({ ...transfer, bytes: () => body.received })
    try {
      const { head, bytes } = await peek(body, SNIFF_LENGTH)
      const mediaType = classifyMediaType(headers['content-type'], head, dataName)
      const upload = await staging.receive(source, bytes)
      if (isPromised) {
        const { content, whole } = readDigests(call.request)
        await checkWhole(upload, content, whole)
      }
      await upload.stage({ dataName, mediaType, member })
    } catch (error) {
      throw withLimits(toHttpError(error), maxFileBytes)
    } finally {
      if (end) end()
    }
    return creation === undefined ? empty(200) : completed()
  }
}

function checkName(dataName: string): string {
  if (!isDataName(dataName)) throw new HttpError('BAD_NAME')
  return dataName
}
