/**
 * Writes all of a batch, and tells a full disk from other failures.
 *
 * @module
 */

import { toDomainError } from './disk-errors.ts'

/** What is needed of a `FileHandle`. */
export interface WritableFile {
  writev(
    chunks: readonly Uint8Array[],
    position: number,
  ): Promise<{ readonly bytesWritten: number }>
}

/** @throws {DomainError} `NO_SPACE`. */
export async function writeFully(
  file: WritableFile,
  chunks: readonly Uint8Array[],
  position: number,
): Promise<void> {
  try {
    let rest = chunks
    for (let at = position; rest.length > 0; ) {
      const { bytesWritten } = await file.writev(rest, at)
      at += bytesWritten
      // A disk that is nearly full takes less than it is given, and only then says so.
      rest = dropBytes(rest, bytesWritten)
    }
  } catch (error) {
    throw toDomainError(error, 'Cannot keep the upload')
  }
}

/** What `chunks` holds behind its first `count` bytes. */
function dropBytes(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let left = count
  const index = chunks.findIndex(({ length }) => {
    if (left < length) return true
    left -= length
    return false
  })
  if (index === -1) return []
  const [first, ...others] = chunks.slice(index)
  return first === undefined ? [] : [first.subarray(left), ...others]
}
