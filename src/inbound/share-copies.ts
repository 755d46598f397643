/** Shares what a person copies on the desktop. @module */

import { createHash } from 'node:crypto'
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
import type { InboundItem, InboundPipeline } from '../ports/inbound-pipeline.ts'
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
  readonly old: readonly string[]
}

const OLD = new Error('What was copied is older than what was sent since')

/**
 * Shares a copy, unless its content is one of `old`: SHA-256, lower-case hex.
 *
 * @returns Whether it is.
 */
type ShareCopy = (copied: CopiedContent, old?: readonly string[]) => Promise<boolean>

/**
 * Makes a function that takes each copy as it happens. A newer copy overtakes an older one that is
 * still being read: a large file hashed for seconds must not replace what was copied since.
 */
export function createCopySharing(deps: ShareCopiesDeps): ShareCopy {
  let newest = new AbortController()

  return async (copied, old = []) => {
    newest.abort()
    const mine = new AbortController()
    newest = mine
    try {
      await shareCopy(copied, mine.signal, { ...deps, old })
    } catch (error) {
      if (error === OLD) return true
      if (mine.signal.aborted) return false
      // Messages of the system name files.
      const isOurs = error instanceof DomainError
      const reason = isOurs ? error.message : describeFailure(error).reason
      deps.logger.warn('Cannot share what was copied', { kind: copied.kind, reason })
    }
    return false
  }
}

async function shareCopy(
  copied: CopiedContent,
  signal: AbortSignal,
  deps: SharingDeps,
): Promise<void> {
  if (copied.kind === 'text') {
    if (deps.old.length > 0) judge(createHash('sha256').update(copied.text).digest('hex'), deps)
    await deps.inbound.apply({ ...FROM_CLIPBOARD, type: 'Text', text: copied.text })
    return
  }
  if (copied.kind === 'image') {
    const { mediaType, bytes } = copied
    const blob = await deps.blobs.receive(only(bytes), { maxBytes: bytes.length })
    const extension = /^image\/([a-z]+)/.exec(mediaType)?.[1] ?? 'bin'
    const dataName = nameOfNow(extension, deps.clock.now())
    await applyBlob({ type: 'Image', dataName, blob, mediaType }, signal, deps)
    return
  }
  const [path = '', ...others] = copied.paths
  if (others.length > 0 || (await isFolder(path, signal))) {
    await shareGroup(copied.paths, signal, deps)
    return
  }
  const blob = await deps.blobs.adopt(path, signal)
  const dataName = toDataName(basename(path))
  const mediaType = classifyMediaType(undefined, await readStart(blob, SNIFF_LENGTH), dataName)
  await applyBlob({ type: 'File', dataName, blob, mediaType }, signal, deps)
}

/** @throws `OLD`. */
function judge(sha256: string, { old }: SharingDeps): void {
  if (old.includes(sha256)) throw OLD
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
): Promise<void> {
  const { blob, leftOut } = await deps.blobs.adoptGroup(paths, signal)
  const dataName = groupName(paths, deps.clock.now())
  await applyBlob({ type: 'Group', dataName, blob, mediaType: 'application/zip' }, signal, deps)
  const { unreadable, special } = leftOut
  if (unreadable > 0) deps.logger.warn('Some of what was copied cannot be read', { unreadable })
  if (special > 0) deps.logger.info('Links and special files are not shared', { count: special })
}

const FROM_CLIPBOARD = {
  origin: { kind: 'clipboard' },
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
  deps: SharingDeps,
): Promise<void> {
  try {
    signal.throwIfAborted()
    judge(blob.digests.sha256, deps)
    const bytes = { kind: 'received', blob, mediaType } as const
    await deps.inbound.apply({ ...FROM_CLIPBOARD, type, text: dataName, dataName, bytes })
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
