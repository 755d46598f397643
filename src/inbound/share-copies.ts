/** Shares what a person copies on the desktop. @module */

import { lstat } from 'node:fs/promises'
import { basename } from 'node:path'
import { toDataName } from '../core/item.ts'
import { DomainError } from '../core/domain-error.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { only, readStart } from '../lib/read-bytes.ts'
import { turnsAt } from '../lib/user-files.ts'
import type { BlobStore, HashedBlob } from '../ports/blob.ts'
import type { Clock } from '../lib/clock.ts'
import type {
  AppliedItem,
  InboundItem,
  InboundPipeline,
  Origin,
} from '../ports/inbound-pipeline.ts'
import type { Logger } from '../ports/logger.ts'
import type { CopiedContent } from '../ports/system-clipboard.ts'
import { nameOfNow } from './resolve-content.ts'

interface ShareCopiesDeps {
  readonly blobs: BlobStore
  readonly inbound: InboundPipeline
  readonly clock: Clock
  readonly logger: Logger
}

interface SharingDeps extends ShareCopiesDeps {
  readonly origin: Origin
}

/** Shares a copy. @returns Whether it was left out: see the `Origin`. */
type ShareCopy = (
  copied: CopiedContent,
  how?: Omit<Origin & { readonly kind: 'clipboard' }, 'kind'>,
) => Promise<boolean>

/**
 * Makes a function that takes each copy as it happens. A newer copy overtakes an older one that is
 * still being read: a large file hashed for seconds must not replace what was copied since.
 */
export function createCopySharing(deps: ShareCopiesDeps): ShareCopy {
  let newest = new AbortController()

  return async (copied, how) => {
    newest.abort()
    const mine = new AbortController()
    newest = mine
    try {
      const origin = { kind: 'clipboard', ...how } as const
      const { item } = await shareCopy(copied, mine.signal, { ...deps, origin })
      return item === undefined
    } catch (error) {
      if (mine.signal.aborted) return false
      // Messages of the system name files.
      const isOurs = error instanceof DomainError
      const reason = isOurs ? error.message : describeFailure(error).reason
      deps.logger.warn('Cannot share what was copied', { kind: copied.kind, reason })
      return false
    }
  }
}

async function shareCopy(
  copied: CopiedContent,
  signal: AbortSignal,
  deps: SharingDeps,
): Promise<AppliedItem> {
  const { origin } = deps
  if (copied.kind === 'text') {
    return deps.inbound.apply({ ...FROM_CLIPBOARD, origin, type: 'Text', text: copied.text })
  }
  if (copied.kind === 'image') {
    const { mediaType, bytes } = copied
    const blob = await deps.blobs.receive(only(bytes), { maxBytes: bytes.length })
    const extension = /^image\/([a-z]+)/.exec(mediaType)?.[1] ?? 'bin'
    const dataName = nameOfNow(extension, deps.clock.now())
    return applyBlob({ type: 'Image', dataName, blob, mediaType }, signal, deps)
  }
  const [path = '', ...others] = copied.paths
  if (others.length > 0 || (await isFolder(path, signal))) {
    return shareGroup(copied.paths, signal, deps)
  }
  const blob = await deps.blobs.adopt(path, signal)
  const dataName = toDataName(basename(path))
  const mediaType = classifyMediaType(undefined, await readStart(blob, SNIFF_LENGTH), dataName)
  return applyBlob({ type: 'File', dataName, blob, mediaType }, signal, deps)
}

/** Whether a folder was copied. Of a link to a folder, the content was not copied. */
async function isFolder(path: string, signal: AbortSignal): Promise<boolean> {
  const stats = await turnsAt(path, signal)(() => lstat(path).catch(() => undefined))
  // Reading it will fail with the reason.
  return stats?.isDirectory() === true
}

async function shareGroup(
  paths: readonly string[],
  signal: AbortSignal,
  deps: SharingDeps,
): Promise<AppliedItem> {
  const { blob, leftOut } = await deps.blobs.adoptGroup(paths, signal)
  const dataName = groupName(paths, deps.clock.now())
  const content = { type: 'Group', dataName, blob, mediaType: 'application/zip' } as const
  const applied = await applyBlob(content, signal, deps)
  const { unreadable, special } = leftOut
  if (unreadable > 0) deps.logger.warn('Some of what was copied cannot be read', { unreadable })
  if (special > 0) deps.logger.info('Links and special files are not shared', { count: special })
  return applied
}

const FROM_CLIPBOARD = {
  dataName: '',
  hash: '',
  bytes: { kind: 'none' },
} as const satisfies Partial<InboundItem>

interface CopiedBlob {
  readonly type: 'Image' | 'File' | 'Group'
  readonly dataName: string
  readonly mediaType: string
  readonly blob: HashedBlob
}

async function applyBlob(
  { type, dataName, mediaType, blob }: CopiedBlob,
  signal: AbortSignal,
  { inbound, origin }: SharingDeps,
): Promise<AppliedItem> {
  try {
    signal.throwIfAborted()
    const bytes = { kind: 'received', blob, mediaType } as const
    return await inbound.apply({ ...FROM_CLIPBOARD, origin, type, text: dataName, dataName, bytes })
  } catch (error) {
    await blob.discard()
    throw error
  }
}

/** The data name of a Group: that of a folder, unless it is too long with `.zip` behind it. */
function groupName(paths: readonly string[], now: number): string {
  const [path = '', ...others] = paths
  const name = toDataName(`${basename(path)}.zip`)
  return others.length === 0 && name.endsWith('.zip') ? name : nameOfNow('zip', now)
}
