/** Makes the item that another daemon has the current one here. @module */

import { isTooLong } from '../client/answer.ts'
import { ClientError, mayPass } from '../client/client-error.ts'
import type { ClipboardDocument } from '../client/decode-document.ts'
import type { LatestStamped } from '../client/latest.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import { backOff } from '../lib/back-off.ts'
import { DomainError } from '../core/domain-error.ts'
import { MAX_METADATA_BYTES } from '../core/limits.ts'
import { classifyMediaType } from '../core/media-type.ts'
import { believedStamp } from '../core/stamp.ts'
import type { BlobStore } from '../ports/blob.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { InboundBytes, InboundPipeline } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { DaemonClient } from './open-client.ts'

/** About ten minutes without a byte: a server that was updated is back by then. */
const MAX_FAILURES = 24

/** Where an item comes from and goes to. */
export interface PullItemDeps {
  readonly client: Pick<DaemonClient, 'download'>
  readonly latest: Pick<LatestItem, 'current' | 'binary'>
  readonly inbound: InboundPipeline
  readonly blobs: Pick<BlobStore, 'receive'>
  readonly clock: Clock
  readonly circleTime: Pick<CircleTime, 'believes'>
  readonly maxFileBytes: number
  readonly signal: AbortSignal
}

/**
 * Pulls an item: its document, and its bytes when they are not here already.
 *
 * @throws {ClientError}; {DomainError} as `BlobStore.receive` and `InboundPipeline.apply`; the
 *   reason of the signal.
 */
export async function pullItem(document: LatestStamped, deps: PullItemDeps): Promise<void> {
  const { latest, inbound, circleTime } = deps
  const { type, text, dataName, hash, mediaType } = document
  if (document.stamp === undefined) {
    throw new ClientError('BAD_ANSWER', { reason: 'the item has no stamp' })
  }
  const stamp = believedStamp(document.stamp, circleTime.believes)
  const origin = { kind: 'peer', stamp, deviceId: undefined } as const
  // The bytes may be here under another name and type: the pipeline gives them those of the
  // document.
  const isHere = [latest.current, latest.binary].some((stored) => {
    return stored?.blob !== undefined && stored.item.contentHash === hash
  })
  const needsBytes = document.hasData && !isHere
  const bytes: InboundBytes = needsBytes ? await receive(document, deps) : { kind: 'none' }
  try {
    deps.signal.throwIfAborted()
    await inbound.apply({ origin, type, text, dataName, hash, mediaType, bytes })
  } catch (error) {
    if (bytes.kind === 'received') await bytes.blob.discard()
    throw error
  }
}

/** Whether an item is larger than what is taken here, or no text, and will be so each time. */
export function isUnfit(error: unknown): boolean {
  if (!(error instanceof DomainError)) return isTooLong(error)
  return ['TEXT_TOO_LARGE', 'UPLOAD_TOO_LARGE', 'TEXT_NOT_UTF8'].includes(error.code)
}

async function receive(
  document: LatestStamped,
  deps: PullItemDeps,
): Promise<Extract<InboundBytes, { kind: 'received' }>> {
  const { size, type } = document
  const maxBytes =
    type === 'Text' ? Math.min(MAX_METADATA_BYTES, deps.maxFileBytes) : deps.maxFileBytes
  if (size > maxBytes) {
    const code = type === 'Text' ? 'TEXT_TOO_LARGE' : 'UPLOAD_TOO_LARGE'
    const message = `Cannot take the item of a member: it has more than ${maxBytes} bytes`
    throw new DomainError(code, message)
  }
  const { mediaType: told, bytes, cancel } = await openDownload(document, deps)
  const mediaType = classifyMediaType(told, new Uint8Array(), document.dataName)
  const limits = { declaredSize: size, maxBytes }
  // When the blob is refused at once, nobody has begun to read.
  const blob = await deps.blobs.receive(bytes, limits).finally(cancel)
  if (blob.digests.sha256 === document.hash) return { kind: 'received', blob, mediaType }
  await blob.discard()
  throw new ClientError('BAD_ANSWER', { reason: 'the bytes are not those of the document' })
}

/** Bytes on their way: when a connection breaks, what came is kept, and the rest is asked for. */
interface ResumedDownload {
  readonly mediaType: string
  /** May be read once. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Closes the connection when nothing was read. */
  cancel(): Promise<void>
}

/**
 * Opens a download that is resumed when its connection breaks.
 *
 * @throws {ClientError}, or the reason of the signal; so does reading the bytes.
 */
async function openDownload(
  document: ClipboardDocument,
  { client, clock, signal }: Pick<PullItemDeps, 'client' | 'clock' | 'signal'>,
): Promise<ResumedDownload> {
  const first = await client.download(document, { signal })
  const { mediaType, etag } = first
  // The store refuses a text that is too long, and then it is not asked for again.
  const most = document.type === 'Text' ? Infinity : Math.max(document.size, MAX_METADATA_BYTES)

  async function* read(): AsyncGenerator<Uint8Array> {
    let { body } = first
    let received = 0
    for (let failures = 0; ; ) {
      try {
        for await (const chunk of body) {
          received += chunk.byteLength
          if (received > most) throw new ClientError('BAD_ANSWER', { reason: 'too many bytes' })
          failures = 0
          yield chunk
        }
        return
      } catch (error) {
        signal.throwIfAborted()
        if (!mayGoOn(error) || etag === undefined) throw error
      }
      body = await resume()
      if (received === document.size) return

      async function resume(): Promise<typeof body> {
        for (;;) {
          failures += 1
          await sleep(clock, backOff(failures), signal)
          try {
            const range = { offset: received, etag }
            const next = await client.download(document, { range, signal })
            if (next.offset === received) return next.body
            await next.body.cancel()
            throw new ClientError('BAD_ANSWER', { reason: 'the bytes are others by now' })
          } catch (error) {
            signal.throwIfAborted()
            if (!mayGoOn(error) || failures > MAX_FAILURES) throw error
          }
        }
      }
    }
  }

  // Once it is being read, the reader sees to it, and this fails.
  const cancel = (): Promise<void> => first.body.cancel().catch(() => undefined)
  return { mediaType, bytes: read(), cancel }
}

function mayGoOn(error: unknown): boolean {
  return error instanceof ClientError && mayPass(error)
}
