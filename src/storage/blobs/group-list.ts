/** The list of a Group: what an archive that is nowhere is put together from. @module */

import { isDataName } from '../../core/item.ts'
import { defineJsonFile } from '../../lib/atomic-file.ts'
import { arrayOf, decodeString, matching, objectOf, optional } from '../../lib/decoder.ts'
import type { DiskBlob, FileIdentity } from './disk-blob.ts'
import {
  decodeBlobName,
  decodeCount,
  decodeDecimal,
  decodeDigest,
  decodeNanoseconds,
} from './record-fields.ts'

/** A file that is not empty. */
export interface GroupFile {
  /** The last segment is what counts of a member: the data directory may have been moved. */
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
  /** The files, where they are blobs of ours; absent for files of the user. */
  readonly members?: readonly MemberRecord[] | undefined
}

/** A blob of ours in an archive. */
export interface GroupMember {
  readonly dataName: string
  readonly blob: DiskBlob
}

/** The list as it is written. */
export interface MemberRecord {
  /** Name in the folder of blobs. */
  readonly name: string
  readonly dataName: string
  readonly size: number
  readonly sha256: string
  readonly blake3: string
}

/** @throws {Error} When it is a file of the user. */
export function toRecord({ dataName, blob }: GroupMember): MemberRecord {
  const { ownName: name, size, digests } = blob
  if (name === undefined) throw new Error('Cannot keep a file of the user')
  return { name, dataName, size, ...digests }
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
  members: optional(
    arrayOf(
      objectOf({
        name: decodeBlobName,
        dataName: matching(decodeString, isDataName, 'a data name'),
        size: decodeCount,
        sha256: decodeDigest,
        blake3: decodeDigest,
      }),
    ),
  ),
})

/** An earlier program would sweep the members, and has to refuse such a list. */
const WITH_MEMBERS = defineJsonFile({ version: 2, reads: [1, 2], decode: decodeHeader })
const WITHOUT_MEMBERS = defineJsonFile({ version: 1, reads: [1, 2], decode: decodeHeader })

/** The bytes of a list, as it is kept in `blobs/`. */
export function encodeGroupList({ size, files, frame, members }: GroupList): Buffer {
  const header = (members === undefined ? WITHOUT_MEMBERS : WITH_MEMBERS).format({
    size,
    members,
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
  const header = WITH_MEMBERS.parse(bytes.subarray(0, end))
  const files = header.files.map(({ path, start, size, ino, dev, mtimeNs }) => ({
    path: Buffer.from(path, 'latin1'),
    start,
    identity: { size, ino: BigInt(ino), dev: BigInt(dev), mtimeNs: BigInt(mtimeNs) },
  }))
  const { size, members } = header
  const list = { size, files, frame: bytes.subarray(end + 1), members }
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
