/**
 * Makes the item that another daemon has the current one here.
 *
 * @module
 */

import { ClientError } from '../client/client-error.ts'
import type { Client } from '../client/connect.ts'
import type { LatestDocument } from '../client/latest.ts'
import type { Timing } from '../client/timing.ts'
import { believedStamp } from '../core/stamp.ts'
import type { BlobStore, HashedBlob } from '../ports/blob.ts'
import type { GroupTime } from '../ports/group-time.ts'
import type { InboundBytes, InboundPipeline } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import { openDownload } from './resumed-download.ts'

export interface PullItemDeps {
  readonly client: Pick<Client, 'download'>
  readonly latest: Pick<LatestItem, 'current' | 'binary'>
  readonly inbound: InboundPipeline
  readonly blobs: Pick<BlobStore, 'receive'>
  readonly timing: Timing
  readonly groupTime: Pick<GroupTime, 'believes'>
  readonly maxFileBytes: number
  readonly signal: AbortSignal
}

/**
 * @throws {ClientError}; {DomainError} as `BlobStore.receive` and `InboundPipeline.apply`; the
 *   reason of the signal.
 */
export async function pullItem(document: LatestDocument, deps: PullItemDeps): Promise<void> {
  const { latest, inbound, groupTime } = deps
  const { type, text, dataName, hash, mediaType } = document
  if (document.stamp === undefined) {
    throw new ClientError('BAD_ANSWER', { reason: 'the item has no stamp' })
  }
  const stamp = believedStamp(document.stamp, groupTime.believes)
  const origin = { kind: 'peer', stamp, deviceId: undefined } as const
  // Under whatever name and type: the pipeline gives the bytes those of the document.
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

async function receive(
  document: LatestDocument,
  deps: PullItemDeps,
): Promise<Extract<InboundBytes, { kind: 'received' }>> {
  const { mediaType, bytes } = await openDownload(document, deps)
  const limits = { declaredSize: document.size, maxBytes: deps.maxFileBytes }
  const blob = await deps.blobs.receive(bytes, limits)
  if (blob.digests.sha256 !== document.hash) await refuse(blob)
  return { kind: 'received', blob, mediaType }
}

async function refuse(blob: HashedBlob): Promise<never> {
  await blob.discard()
  throw new ClientError('BAD_ANSWER', { reason: 'the bytes are not those of the document' })
}
