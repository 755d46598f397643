/**
 * Makes one blob of files and folders of the user: walks, hashes, and keeps a list.
 *
 * @module
 */

import { DomainError } from '../../core/domain-error.ts'
import type { CopiedGroup } from '../../ports/blob.ts'
import type { DiskBlob } from '../disk-blob.ts'
import { walkCopied, type CopiedTree } from './copied-tree.ts'
import { GroupBlob } from './group-blob.ts'
import { encodeGroupList, isWhole, type GroupFile } from './group-list.ts'
import { findZipLibrary } from './zip-library.ts'
import { zipOnce, type ZippedArchive } from './zip-thread.ts'

export interface AdoptGroupOptions {
  readonly signal: AbortSignal
  /** The largest archive. */
  readonly maxBytes: number
  /** Makes a blob of ours. */
  readonly keep: (bytes: Uint8Array) => Promise<DiskBlob>
}

/** As `BlobStore.adoptGroup` of the ports. */
export async function adoptGroup(
  paths: readonly string[],
  { signal, maxBytes, keep }: AdoptGroupOptions,
): Promise<CopiedGroup & { readonly blob: GroupBlob }> {
  findZipLibrary()
  const tree = await walkCopied(paths, { signal, maxBytes })
  const { archive, unreadable } = await zipOnce(tree, { signal, maxBytes })
  if (archive === undefined) {
    throw new DomainError('GROUP_EMPTY', 'Cannot share several files: none of them can be read')
  }
  const { size, frame, digests } = archive
  const list = { size, frame, files: archive.files.map((file) => toGroupFile(file, tree)) }
  // It would be read wrongly ever after.
  if (!isWhole(list)) throw new Error('Cannot share several files: the archive has gaps')
  const blob = new GroupBlob({
    list: await keep(encodeGroupList(list)),
    size,
    digests,
    isOfThisRun: true,
  })
  const leftOut = { ...tree.leftOut, unreadable: tree.leftOut.unreadable + unreadable }
  return { blob, leftOut }
}

function toGroupFile(file: ZippedArchive['files'][number], { files }: CopiedTree): GroupFile {
  const { index, start, ...identity } = file
  const path = files[index]?.path
  if (path === undefined) throw new Error('Cannot share several files: an unknown file is in it')
  return { path, start, identity }
}
