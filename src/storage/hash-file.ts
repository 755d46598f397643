/**
 * Reads a file of the user once, to hash it.
 *
 * @module
 */

import type { FileHandle } from 'node:fs/promises'
import { MIB } from '../core/limits.ts'
import type { FileHasher } from '../hashing/file-hasher.ts'
import type { Digests } from '../ports/blob.ts'
import { gone } from './disk-blob.ts'

const READ_BYTES: number = MIB / 4

export interface HashFileOptions {
  /** What the file has now. */
  readonly size: number
  readonly signal?: AbortSignal
}

/**
 * @throws {DomainError} `BLOB_GONE` when the file becomes shorter.
 * @throws `signal.reason` when aborted.
 */
export async function hashFile(
  file: FileHandle,
  hasher: FileHasher,
  { size, signal }: HashFileOptions,
): Promise<Digests> {
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
  } catch (error) {
    await hash.abort()
    throw error
  }
  return hash.finish()
}
