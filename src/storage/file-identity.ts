/**
 * Tells whether a file is still the one that was hashed.
 *
 * @module
 */

import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** What is `undefined` does not have to be the same. */
export interface FileIdentity {
  readonly size: number
  readonly ino: bigint
  /** Not the same after a restart, on some machines. */
  readonly dev: bigint | undefined
  /** Counts for files that are not ours: those are written in place. */
  readonly mtimeNs: bigint | undefined
}

/** A file as it is now. */
export interface FileState {
  readonly isFile: boolean
  readonly identity: FileIdentity & { readonly mtimeNs: bigint }
  /** Unix milliseconds. */
  readonly modifiedAt: number
}

export async function readFileState(file: FileHandle): Promise<FileState> {
  return toFileState(await file.stat({ bigint: true }))
}

export function toFileState(stats: BigIntStats): FileState {
  const { ino, dev, mtimeNs } = stats
  return {
    isFile: stats.isFile(),
    identity: { size: Number(stats.size), ino, dev, mtimeNs },
    modifiedAt: Number(stats.mtimeMs),
  }
}

/** Whether `actual` is what is known of the file. */
export function isSameFile(known: FileIdentity, actual: FileIdentity): boolean {
  return (
    known.size === actual.size &&
    known.ino === actual.ino &&
    (known.dev === undefined || known.dev === actual.dev) &&
    (known.mtimeNs === undefined || known.mtimeNs === actual.mtimeNs)
  )
}
