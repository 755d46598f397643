/**
 * Makes one blob of files and folders of the user: walks, has the archive made once in a worker to
 * hash it, and keeps a list. Has archives that came read in a worker, too. Each worker is there for
 * one group, and ends with it.
 *
 * The package `yazl` is CommonJS, and has no types. Only the worker loads it.
 * @module
 */

import { Worker, type ResourceLimits } from 'node:worker_threads'
import { DomainError } from '../../core/domain-error.ts'
import {
  MAX_GROUP_DEPTH,
  MAX_GROUP_ENTRIES,
  MAX_GROUP_NAMES_LENGTH,
  MAX_UNPACKED_BYTES,
} from '../../core/limits.ts'
import { isProgramGone, ownFile, PROGRAM_GONE, SMALL_HEAP } from '../../lib/program-files.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { CopiedGroup } from '../../ports/blob.ts'
import {
  byName,
  nameMembers,
  walkCopied,
  type CopiedTree,
  type WalkOptions,
} from './copied-tree.ts'
import { gone, type DiskBlob } from './disk-blob.ts'
import { GroupBlob, placeOf } from './group-blob.ts'
import {
  encodeGroupList,
  isWhole,
  toRecord,
  type GroupFile,
  type GroupMember,
} from './group-list.ts'
import type { UnzipAnswer, UnzipTask, ZipAnswer, ZippedFile, ZipTask } from './zip-task.ts'

/** Enough for any archive within the limits; a small young part has buffers collected soon. */
const UNZIP_HEAP: ResourceLimits = { ...SMALL_HEAP, maxYoungGenerationSizeMb: 2 }

interface AdoptGroupOptions extends WalkOptions {
  readonly keep: (bytes: Uint8Array) => Promise<DiskBlob>
}

/** Makes the blob, as `BlobStore.adoptGroup` of the ports. */
export async function adoptGroup(
  paths: readonly string[],
  { signal, maxBytes, keep }: AdoptGroupOptions,
): Promise<CopiedGroup & { readonly blob: GroupBlob }> {
  const tree = await walkCopied(paths, { signal, maxBytes })
  const { archive, unreadable } = await zipOnce(tree, { signal, maxBytes })
  if (archive === undefined) {
    throw new DomainError('GROUP_EMPTY', 'Cannot share several files: none of them can be read')
  }
  const blob = await keepGroup(archive, tree, keep)
  const leftOut = { ...tree.leftOut, unreadable: tree.leftOut.unreadable + unreadable }
  return { blob, leftOut }
}

/** Makes a blob of blobs of ours, as `BlobStore.bundle` of the ports. */
export async function bundleGroup(
  members: readonly GroupMember[],
  { signal, maxBytes, keep }: AdoptGroupOptions,
): Promise<GroupBlob> {
  const places = members.map(async ({ dataName, blob }) => {
    return { path: await placeOf(blob), fileName: Buffer.from(dataName) }
  })
  const files = nameMembers(await Promise.all(places)).toSorted(byName)
  const tree = { files, folders: [], leftOut: { unreadable: 0, special: 0 } }
  const { archive, unreadable } = await zipOnce(tree, { signal, maxBytes })
  if (archive === undefined || unreadable > 0) throw gone('some of them cannot be read')
  return keepGroup(archive, tree, keep, members)
}

async function keepGroup(
  { size, frame, digests, groupHash, ...archive }: NonNullable<ZipAnswer['archive']>,
  tree: CopiedTree,
  keep: AdoptGroupOptions['keep'],
  members?: readonly GroupMember[],
): Promise<GroupBlob> {
  const files = archive.files.map((file) => toGroupFile(file, tree))
  const list = { size, frame, files, members: members?.map(toRecord) }
  // An archive with gaps would be read wrongly ever after.
  if (!isWhole(list)) throw new Error('Cannot keep several files: the archive has gaps')
  const kept = await keep(encodeGroupList(list))
  return new GroupBlob({ list: kept, size, digests, groupHash, members }, true)
}

function toGroupFile(file: ZippedFile, { files }: CopiedTree): GroupFile {
  const { index, start, ...identity } = file
  const path = files[index]?.path
  if (path === undefined) throw new Error('Cannot share several files: an unknown file is in it')
  return { path, start, identity }
}

/** Makes the archive, if there is anything to put in. @throws {DomainError}; `signal.reason`. */
export async function zipOnce(
  { files, folders }: CopiedTree,
  { maxBytes, signal }: WalkOptions,
): Promise<ZipAnswer> {
  const task: ZipTask = { files, folders, maxBytes }
  const answer: ZipAnswer = await work(ownFile('./zip-worker.js', import.meta.url), task, signal)
  const { failure } = answer
  if (failure !== undefined) throw new DomainError(failure.code, failure.message)
  return answer
}

/** The hash of the files of an archive that came, as `BlobStore.groupHashOf` of the ports. */
export async function hashUnpacked(
  { path, size }: Pick<DiskBlob, 'path' | 'size'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (size > MAX_UNPACKED_BYTES) return undefined
  const task: UnzipTask = {
    path,
    maxEntries: MAX_GROUP_ENTRIES,
    maxBytes: MAX_UNPACKED_BYTES,
    maxDepth: MAX_GROUP_DEPTH,
    maxNamesLength: MAX_GROUP_NAMES_LENGTH,
  }
  const worker = ownFile('./unzip-worker.js', import.meta.url)
  const { groupHash }: UnzipAnswer = await work(worker, task, signal, UNZIP_HEAP)
  return groupHash
}

/** Has a worker do a task. @throws `signal.reason` when aborted. */
async function work<Answer>(
  entry: URL,
  task: object,
  signal: AbortSignal,
  resourceLimits?: ResourceLimits,
): Promise<Answer> {
  signal.throwIfAborted()
  const worker = new Worker(entry, { workerData: task, execArgv: [], resourceLimits })
  let abort = (): void => undefined
  try {
    return await new Promise<Answer>((resolve, reject) => {
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      worker.on('message', resolve)
      worker.on('error', (cause) => {
        // The message of the worker may name a file.
        const reason = codeOf(cause) ?? (cause instanceof Error ? cause.name : typeof cause)
        const what = isProgramGone() ? PROGRAM_GONE : `the worker failed (${reason})`
        reject(new Error(`Cannot work on the archive: ${what}`, { cause }))
      })
      worker.on('exit', () => reject(new Error('Cannot work on the archive: the worker ended')))
    })
  } finally {
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}
