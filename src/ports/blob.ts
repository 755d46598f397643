/**
 * Port: bytes at rest.
 *
 * A blob never changes. Its owner gives it up with `discard`; whoever has it open then still
 * reads it to its end.
 * @module
 */

import type { Digests } from '../core/content-id.ts'

export type { Digests }

/** Bytes at rest. */
export interface Blob {
  readonly size: number

  /** @throws {DomainError} `BLOB_GONE` when the bytes were discarded, or changed on the disk. */
  open(): Promise<OpenBlob>
}

/** A blob being read. Whoever opened it closes it. */
export interface OpenBlob {
  /**
   * Reads into `target` from `position` on.
   *
   * @returns How many bytes were read; fewer than `target` holds only at the end of the blob.
   * @throws {DomainError} `BLOB_GONE` when the file under it has become shorter.
   */
  read(target: Uint8Array, position: number): Promise<number>
  close(): Promise<void>
}

/** A blob that was hashed when it was made. */
export interface HashedBlob extends Blob {
  readonly digests: Digests
  /** Whether the bytes are where the user has them: on a share that may hang, for one. */
  readonly isOfUser?: boolean | undefined
  /** The files of an archive that is made of blobs of ours; absent for any other blob. */
  readonly members?: readonly BlobMember[] | undefined
  /** See {@link BlobStore.groupHashOf}; there when the archive was made here, in this run. */
  readonly groupHash?: string | undefined

  /** Gives the bytes up. Calling it twice is fine. Never removes a file that is not ours. */
  discard(): Promise<void>
}

/** A file of an archive. */
export interface BlobMember {
  /** A valid data name; several may have the same. */
  readonly dataName: string
  readonly blob: HashedBlob
}

/** An archive of blobs of ours. */
export interface BlobBundle {
  /** Owns the blobs from now on: it gives them up when it is discarded. */
  readonly blob: HashedBlob
  /** Gives the archive up, and leaves its blobs alone. */
  dissolve(): Promise<void>
}

/** The size and limit of bytes, known before they come. */
export interface BytesToReceive {
  /** As declared by the sender. */
  readonly declaredSize?: number | undefined
  /** The most to accept. */
  readonly maxBytes: number
}

/** Makes blobs. */
export interface BlobStore {
  /**
   * Writes and hashes `bytes` as they come, never holding them whole. The caller owns the blob.
   * When it fails it leaves nothing behind. The bytes survive the death of this program from then
   * on, and a power cut once they have been given to `LatestItem.put`.
   *
   * @throws {DomainError} `UPLOAD_TOO_LARGE` past `maxBytes`, `UPLOAD_INCOMPLETE` when fewer bytes
   *   came than were declared, `NO_SPACE`; or whatever `bytes` itself threw.
   */
  receive(bytes: AsyncIterable<Uint8Array>, expected: BytesToReceive): Promise<HashedBlob>

  /**
   * A blob over a regular file of the user, which stays where it is. Reads it once, to hash it.
   *
   * @throws {DomainError} `BLOB_GONE` when the file cannot be read or changes meanwhile.
   * @throws `signal.reason` when aborted.
   */
  adopt(path: string, signal: AbortSignal): Promise<HashedBlob>

  /**
   * A blob over files and folders of the user, which stay where they are: a zip archive that is put
   * together whenever it is read. Reads all of them once, to hash it. Links are not followed.
   *
   * The blob is gone as soon as one of the files is; a reader that is under way fails then.
   *
   * @param paths Absolute; at least one.
   * @throws {DomainError} `GROUP_TOO_LARGE`, saying which limit; `GROUP_EMPTY`; `PACKAGE_MISSING`;
   *   `BLOB_GONE` when a file changes meanwhile; `NO_SPACE`. No message names a file.
   * @throws `signal.reason` when aborted.
   */
  adoptGroup(paths: readonly string[], signal: AbortSignal): Promise<CopiedGroup>

  /**
   * A blob over blobs that {@link receive} has made, which stay as they are: a zip archive that is
   * put together whenever it is read. Reads all of them once, to hash it. Names that are equal are
   * numbered in the order of `members`.
   *
   * @throws {DomainError} `GROUP_TOO_LARGE`; `PACKAGE_MISSING`; `BLOB_GONE`; `NO_SPACE`.
   * @throws `signal.reason` when aborted.
   */
  bundle(members: readonly BlobMember[], signal: AbortSignal): Promise<BlobBundle>

  /**
   * The hash of the files of a zip archive, as programs of the reference protocol compute it when
   * they have unpacked it: hex in lower case. Reads the archive once, and none of more than
   * `MAX_UNPACKED_BYTES`.
   *
   * @returns `undefined` for what is no archive, is damaged, is too large, or is not unpacked to
   *   the same on every system; and when it cannot be read just then.
   * @throws `signal.reason` when aborted.
   */
  groupHashOf(blob: HashedBlob, signal: AbortSignal): Promise<string | undefined>
}

/** A new blob, and how much of what was copied is not in it. */
export interface CopiedGroup {
  readonly blob: HashedBlob
  readonly leftOut: LeftOut
}

/** Counts of files and folders. */
export interface LeftOut {
  /** Files and folders that could not be read, or vanished meanwhile. */
  readonly unreadable: number
  /** Links, pipes, sockets and devices. */
  readonly special: number
}
