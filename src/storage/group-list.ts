/**
 * The list of a Group, which is kept of it: where its files are and where their bytes stand in the
 * archive, and the archive without those bytes, its *frame*.
 *
 * A line of JSON, and behind it the frame as it is. Paths are bytes, spelled as Latin-1.
 * @module
 */

import { arrayOf, decodeString, objectOf } from '../lib/decoder.ts'
import { defineJsonFile } from '../lib/json-file.ts'
import type { FileIdentity } from './disk-blob.ts'
import { decodeCount, decodeDecimal, decodeNanoseconds } from './record-fields.ts'

/** A file that is not empty. */
export interface GroupFile {
  readonly path: Buffer
  /** The offset in the archive at which its bytes begin. */
  readonly start: number
  readonly identity: FileIdentity
}

/** The list of a Group. */
export interface GroupList {
  /** The size of the archive in bytes. */
  readonly size: number
  /** In the order of the archive. */
  readonly files: readonly GroupFile[]
  /** Headers, names, checksums, and the directory at the end of the archive. */
  readonly frame: Uint8Array
}

const LINE_FEED = 0x0a

const decodeHeader = objectOf({
  size: decodeCount,
  files: arrayOf(
    objectOf({
      path: decodeString,
      start: decodeCount,
      size: decodeCount,
      ino: decodeDecimal,
      dev: decodeDecimal,
      mtimeNs: decodeNanoseconds,
    }),
  ),
})

const HEADER = defineJsonFile({ version: 1, decode: decodeHeader })

/** The bytes of a list, as it is kept in `blobs/`. */
export function encodeGroupList({ size, files, frame }: GroupList): Buffer {
  const header = HEADER.format({
    size,
    files: files.map(({ path, start, identity: { size, ino, dev, mtimeNs } }) => ({
      path: path.toString('latin1'),
      start,
      size,
      ino: String(ino),
      dev: String(dev ?? 0n),
      mtimeNs: String(mtimeNs ?? 0n),
    })),
  })
  return Buffer.concat([Buffer.from(header), frame])
}

/** Reads the bytes of a list. @throws {TypeError} saying what is wrong, without quoting it. */
export function decodeGroupList(bytes: Uint8Array): GroupList {
  const end = bytes.indexOf(LINE_FEED)
  if (end === -1) throw new TypeError('it is cut off')
  const header = HEADER.parse(bytes.subarray(0, end))
  const files = header.files.map(({ path, start, size, ino, dev, mtimeNs }) => ({
    path: Buffer.from(path, 'latin1'),
    start,
    identity: { size, ino: BigInt(ino), dev: BigInt(dev), mtimeNs: BigInt(mtimeNs) },
  }))
  const list = { size: header.size, files, frame: bytes.subarray(end + 1) }
  if (!isWhole(list)) throw new TypeError('it does not fit together')
  return list
}

/** Whether frame and files fill the archive: each byte is in one place. */
export function isWhole({ size, files, frame }: GroupList): boolean {
  let end = 0
  let inFiles = 0
  for (const { start, identity } of files) {
    if (start < end || identity.size === 0) return false
    end = start + identity.size
    inFiles += identity.size
  }
  return end <= size && frame.length + inFiles === size
}
