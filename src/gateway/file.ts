/**
 * `/file/{dataName}`: the bytes of Image, File and Group items.
 * @module
 */

import { isDataName } from '../core/data-name.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { attachment } from '../http/content-disposition.ts'
import type { Call, Handler } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { declaredLength, streamBody } from '../http/read-body.ts'
import { empty, type Reply } from '../http/reply.ts'
import { peek } from '../lib/read-bytes.ts'
import type { Device } from '../ports/device-registry.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { StagingArea } from '../ports/staging-area.ts'

type FileCall = Call<Device, { readonly dataName: string }>

export interface GetFileDeps {
  readonly latest: Pick<LatestItem, 'binary'>
}

/** Answers with the bytes of the latest item that has some, under its own name only. */
export function getFile({ latest }: GetFileDeps): Handler<Device, { readonly dataName: string }> {
  return ({ params }) => {
    const dataName = checkName(params.dataName)
    const stored = latest.binary
    if (stored === undefined || stored.item.dataName !== dataName) throw new HttpError('NOT_FOUND')
    return blobReply(stored)
  }
}

/** The bytes of an item, as something that a browser downloads and never runs. */
export function blobReply({ item, blob }: StoredItem): Reply {
  if (blob === undefined) throw new HttpError('NOT_FOUND')
  return {
    status: 200,
    headers: [
      'Content-Type',
      item.mediaType,
      'Content-Disposition',
      attachment(item.dataName),
      'Content-Security-Policy',
      "sandbox; default-src 'none'",
    ],
    body: blob,
    etag: `"${item.contentHash}"`,
    lastModified: blob.modifiedAt,
  }
}

export interface PutFileDeps {
  readonly staging: Pick<StagingArea, 'admit' | 'receive'>
  /** The largest file, in bytes. */
  readonly maxFileBytes: number
}

/** Streams an upload into staging, where it waits for its document. */
export function putFile({
  staging,
  maxFileBytes,
}: PutFileDeps): Handler<Device, { readonly dataName: string }> {
  return async (call: FileCall) => {
    const dataName = checkName(call.params.dataName)
    const { id: deviceId, passwordHash } = call.principal
    const declaredSize = declaredLength(call.request)
    const source = { deviceId, passwordHash, declaredSize, dataName }
    await staging.admit(source)

    const body = streamBody(call, maxFileBytes)
    const { head, bytes } = await peek(body, SNIFF_LENGTH)
    const mediaType = classifyMediaType(call.request.headers['content-type'], head, dataName)
    const upload = await staging.receive(source, bytes)
    await upload.stage({ dataName, mediaType })
    return empty(200)
  }
}

/** `GET /file` and `DELETE /file`: the folder exists, and deleting it changes nothing. */
export function fileFolder(): Handler<Device> {
  const reply = empty(200)
  return () => reply
}

function checkName(dataName: string): string {
  if (!isDataName(dataName)) throw new HttpError('BAD_NAME')
  return dataName
}
