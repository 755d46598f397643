/**
 * The files of a Group, one by one, for programs that do not unpack: those of an archive in which
 * files stand as they are. All that are made here are such archives.
 * @module
 */

import { toDataName } from '../core/data-name.ts'
import { DomainError } from '../core/domain-error.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import { codeOf } from '../lib/system-error.ts'
import {
  endLength,
  findDirectory,
  isStored,
  LOCAL_BYTES,
  readEntries,
  startOf,
  unfit,
  type Entry,
} from '../lib/zip-directory.js'
import type { Blob, OpenBlob } from '../ports/blob.ts'
import type { Downloadable } from './file.ts'

/** Files and folders of an archive that is listed: nobody saves more one by one. */
const MAX_LISTED = 1000

const NUMBER = /^[1-9]\d{0,3}$/

/** A file of a Group, for people. */
export interface GroupMember {
  /** With the folders that it is in, and slashes between. */
  readonly name: string
  /** In bytes. */
  readonly size: number
}

/** The files of a Group in the order of its archive; none of one that cannot be listed. */
export async function membersOf({ item, blob }: Downloadable): Promise<readonly GroupMember[]> {
  if (item.type !== 'Group' || blob === undefined) return []
  const files = await reading(blob, (read) => filesOf(blob, read))
  return (files ?? []).map(({ name, size }) => {
    return { name: name.split('/').map(toDataName).join('/'), size }
  })
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
  return reading(blob, async (read) => {
    const file = (await filesOf(blob, read))[Number(number) - 1]
    if (file === undefined) return undefined
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

async function filesOf({ size }: Blob, read: Read): Promise<readonly Entry[]> {
  const tail = endLength(size)
  const { count, start, length } = findDirectory(await read(size - tail, tail), MAX_LISTED)
  const entries = readEntries(await read(start, length), count)
  const files = entries.filter(({ isFolder }) => !isFolder)
  // Nobody would get all of an archive that has packed ones.
  return files.every(isStored) ? files : []
}

function partOf(blob: Blob, start: number, size: number): Blob {
  return {
    size,
    modifiedAt: blob.modifiedAt,
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
