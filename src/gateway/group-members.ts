/**
 * The files of a Group, one by one, for programs that do not unpack: those of an archive in which
 * files stand as they are. All that are made here are such archives.
 * @module
 */

import { toDataName } from '../core/item.ts'
import { DomainError } from '../core/domain-error.ts'
import { KIB } from '../core/limits.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { codeOf } from '../lib/system-error.ts'
import {
  endLength,
  findDirectory,
  isStored,
  LOCAL_BYTES,
  MAX_NAME_LENGTH,
  readEntries,
  startOf,
  unfit,
  type Entry,
} from '../lib/zip-directory.js'
import type { Blob, OpenBlob } from '../ports/blob.ts'
import type { Downloadable } from './file.ts'

/** Files and folders of an archive that is listed: nobody saves more one by one. */
const MAX_LISTED = 1000

/** The directory of so many takes less, unless their names are made to be long. */
const MAX_DIRECTORY_BYTES: number = 256 * KIB

const MAX_SEGMENTS = 32

const NUMBER = /^[1-9]\d{0,3}$/

/** A file of a Group, for people. */
export interface GroupMember {
  /** With the folders that it is in, and slashes between. */
  readonly name: string
  /** In bytes. */
  readonly size: number
}

/** A file that stands in its archive. */
interface Listed extends Entry {
  /** The name for people. */
  readonly shown: string
}

/** By the archive: each page that shows a Group asks for its files, and for each of them again. */
const listedOf = new WeakMap<Blob, Promise<readonly Listed[]>>()

/** One directory at a time is in memory. */
const directories = new Semaphore(1)

/** The files of a Group in the order of its archive; none of one that cannot be listed. */
export async function membersOf({ item, blob }: Downloadable): Promise<readonly GroupMember[]> {
  if (item.type !== 'Group' || blob === undefined) return []
  const files = await filesOf(blob)
  // The list of an archive that is gone by now helps nobody.
  const present = (await reading(blob, async () => files)) ?? []
  return present.map(({ shown: name, size }) => ({ name, size }))
}

/**
 * A file of a Group.
 *
 * @param number Counts from 1, in the order of {@link membersOf}.
 * @returns `undefined` when there is no such file.
 */
export async function memberOf(
  { item, blob }: Downloadable,
  number: string,
): Promise<Downloadable | undefined> {
  if (item.type !== 'Group' || blob === undefined || !NUMBER.test(number)) return undefined
  const file = (await filesOf(blob))[Number(number) - 1]
  if (file === undefined) return undefined
  return reading(blob, async (read) => {
    const { name, size, offset } = file
    const start = startOf(await read(offset, LOCAL_BYTES), file)
    if (start + size > blob.size) throw unfit()
    const dataName = toDataName(name.slice(name.lastIndexOf('/') + 1))
    const head = await read(start, Math.min(size, SNIFF_LENGTH))
    const mediaType = classifyMediaType(undefined, head, dataName)
    const part = partOf(blob, start, size)
    return { item: { ...item, dataName, mediaType }, blob: part, member: Number(number) }
  })
}

/** Reads from a position; less than `length` bytes only at the end. */
type Read = (position: number, length: number) => Promise<Buffer>

/** @returns `undefined` for what is no archive, or is gone: who downloads all of it is told. */
async function reading<Found>(
  blob: Blob,
  find: (read: Read) => Promise<Found>,
): Promise<Found | undefined> {
  let opened: OpenBlob | undefined
  try {
    const archive = await blob.open()
    opened = archive
    return await find(async (position, length) => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, await archive.read(bytes, position))
    })
  } catch (error) {
    if (codeOf(error) === 'UNFIT' || error instanceof DomainError) return undefined
    throw error
  } finally {
    await opened?.close()
  }
}

/** @returns None of an archive that cannot be listed. What cannot be read is tried again. */
async function filesOf(blob: Blob): Promise<readonly Listed[]> {
  const known = listedOf.get(blob)
  if (known !== undefined) return known
  const files = directories.run(
    async () => (await reading(blob, (read) => readFiles(blob, read))) ?? [],
  )
  listedOf.set(blob, files)
  files.catch(() => listedOf.delete(blob))
  return files
}

async function readFiles({ size }: Blob, read: Read): Promise<readonly Listed[]> {
  const tail = endLength(size)
  const { count, start, length } = findDirectory(await read(size - tail, tail), MAX_LISTED)
  if (length > MAX_DIRECTORY_BYTES) throw unfit()
  const entries = readEntries(await read(start, length), count)
  const files = entries.filter(({ isFolder }) => !isFolder)
  let left = size
  return files.map((file) => {
    left -= file.packed
    const segments = file.name.split('/', MAX_SEGMENTS + 1)
    const isFit = file.name.length <= MAX_NAME_LENGTH && segments.length <= MAX_SEGMENTS
    // Nobody would get all of an archive that has packed ones, and what lies over another one is
    // not there twice.
    if (!isFit || !isStored(file) || left < 0) throw unfit()
    return { ...file, shown: segments.map(toDataName).join('/') }
  })
}

function partOf(blob: Blob, start: number, size: number): Blob {
  return {
    size,
    async open(): Promise<OpenBlob> {
      const opened = await blob.open()
      return {
        read: (target, position) =>
          opened.read(target.subarray(0, Math.max(0, size - position)), start + position),
        close: () => opened.close(),
      }
    },
  }
}
