/** Hashes files that are there, by reading them once. @module */

import type { FileHandle } from 'node:fs/promises'
import { MIB } from '../../core/limits.ts'
import type { FileHash, FileHasher } from '../../hashing/file-hasher.ts'
import type { Digests } from '../../ports/blob.ts'
import { gone } from './disk-blob.ts'

/** The bytes that are read of a file at once. */
const READ_BYTES: number = MIB / 4

interface HashFileOptions {
  /** The bytes that the file has now. */
  readonly size: number
  readonly signal?: AbortSignal
}

/** Hashes a file. @throws {DomainError} `BLOB_GONE` when it becomes shorter; `signal.reason`. */
export async function hashFile(
  file: FileHandle,
  hasher: FileHasher,
  options: HashFileOptions,
): Promise<Digests> {
  return (await hashBeginning(file, hasher, options)).finish()
}

/** Hashes the first bytes of a file that may get more. @throws As {@link hashFile}. */
export async function hashBeginning(
  file: FileHandle,
  hasher: FileHasher,
  { size, signal }: HashFileOptions,
): Promise<FileHash> {
  const hash = hasher.start(file)
  try {
    const block = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size))
    for (let position = 0; position < size; ) {
      const length = Math.min(block.length, size - position)
      const { bytesRead } = await file.read(block, 0, length, position)
      signal?.throwIfAborted()
      if (bytesRead === 0) throw gone('the file became shorter while it was read')
      hash.add(block.subarray(0, bytesRead))
      position += bytesRead
      hash.reached(position)
    }
    return hash
  } catch (error) {
    await hash.abort()
    throw error
  }
}
