/** Downloads the bytes that a document describes. @module */

import { OCTET_STREAM } from '../core/media-type.ts'
import { discard, type Answer } from './answer.ts'
import { ClientError, WRONG_SIZE } from './client-error.ts'
import type { ClipboardDocument } from './decode-document.ts'
import { filePath, openAnswer } from './exchange.ts'
import { checkEntityTag } from './latest.ts'
import type { FetchedResponse, Server } from './server.ts'

/** A part of the bytes. */
export interface DownloadRange {
  /** The first byte. */
  readonly offset: number
  /** To the end, when it is absent. */
  readonly length?: number | undefined
  /** The `etag` of the download to continue: when the bytes have changed, all of them come. */
  readonly etag?: string | undefined
}

/** Options of `download`. */
export interface DownloadOptions {
  readonly range?: DownloadRange | undefined
  readonly signal?: AbortSignal | undefined
}

/** Bytes on their way. Read `body` to its end or cancel it: it holds a connection. */
export interface Download {
  /** Fails with a {@link ClientError}, also when it is shorter or longer than `size`. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
  /** How many bytes `body` will give, when the server told. */
  readonly size: number | undefined
  /** Where `body` begins: the offset asked for, or 0 when the server sends everything. */
  readonly offset: number
  /** Bytes of the whole, when the server told. */
  readonly totalSize: number | undefined
  readonly mediaType: string
  readonly etag: string | undefined
}

/** Requests the bytes of a document. @throws {ClientError} */
export async function download(
  server: Server,
  { dataName, hasData }: Pick<ClipboardDocument, 'dataName' | 'hasData'>,
  { range, signal }: DownloadOptions,
): Promise<Download> {
  if (!hasData) throw new ClientError('ARGUMENT_INVALID', { reason: 'the item has no data' })
  const path = filePath(dataName)
  const headers = range === undefined ? {} : rangeHeaders(range)
  const answer = await openAnswer(server, { method: 'GET', path, headers, signal })
  try {
    const { offset, size, totalSize } = readExtent(answer.response, range)
    return {
      body: guard(answer, size),
      size,
      offset,
      totalSize,
      mediaType: answer.response.headers.get('Content-Type') ?? OCTET_STREAM,
      etag: answer.response.headers.get('ETag') ?? undefined,
    }
  } catch (error) {
    await discard(answer)
    throw error
  }
}

function rangeHeaders({ offset, length, etag }: DownloadRange): Readonly<Record<string, string>> {
  const end = length === undefined ? undefined : offset + length - 1
  if (!isIndex(offset) || (end !== undefined && !(isIndex(end) && end >= offset))) {
    throw new ClientError('ARGUMENT_INVALID', { reason: 'the range is empty or not of integers' })
  }
  checkEntityTag(etag)
  const condition = etag === undefined ? {} : { 'If-Range': etag }
  return { Range: `bytes=${offset}-${end ?? ''}`, ...condition }
}

function readExtent({ status, headers }: FetchedResponse, range: DownloadRange | undefined) {
  if (status === 200) {
    const size = readLength(headers)
    return { offset: 0, size, totalSize: size }
  }
  // RFC 9110, 14.4; of the ranges asked for, only the end may be another.
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers.get('Content-Range') ?? '')
  const [first, last, total] = (match ?? []).slice(1).map(Number)
  const isPart = status === 206 && first !== undefined && last !== undefined && last >= first
  if (!isPart || first !== range?.offset) {
    throw new ClientError('BAD_ANSWER', { status, reason: 'not the bytes that were asked for' })
  }
  const totalSize = Number.isNaN(total) ? undefined : total
  return { offset: first, size: last - first + 1, totalSize }
}

function readLength(headers: Headers): number | undefined {
  // Encoded all the same, the length is that of other bytes.
  if (headers.has('Content-Encoding')) return undefined
  const length = headers.get('Content-Length')
  return length === null ? undefined : Number(length)
}

/** The body, with the errors of the client. What it waits for may take the time-out, not longer. */
function guard({ response, watchdog }: Answer, size: number | undefined): Download['body'] {
  const reader = (response.body ?? new Blob([]).stream()).getReader()
  const [least, most] = size === undefined ? [0, Infinity] : [size, size]
  let received = 0

  async function close(reason?: unknown): Promise<void> {
    watchdog.close()
    // The body is not needed any more, so its failure does not matter.
    await reader.cancel(reason).catch(() => undefined)
  }

  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { value: chunk } = await watchdog.wait(reader.read())
          received += chunk?.byteLength ?? 0
          const isWrong = chunk === undefined ? received < least : received > most
          if (isWrong) throw new ClientError('BAD_ANSWER', { reason: WRONG_SIZE })
          if (chunk !== undefined) return controller.enqueue(chunk)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        await close()
      },
      cancel: close,
    },
    // Nothing is read ahead here: the body below does that already.
    { highWaterMark: 0 },
  )
}

function isIndex(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
