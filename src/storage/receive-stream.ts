/**
 * Takes the bytes of an upload as they come, and refuses what is too much or too little.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { BytesToReceive, Digests } from '../ports/blob.ts'
import type { Allowance } from './allowance.ts'
import type { BlobWriter } from './blob-writer.ts'

/**
 * Moves `bytes` to `writer`, and ends it in any case.
 *
 * @throws {DomainError} `UPLOAD_TOO_LARGE`, `UPLOAD_INCOMPLETE`, `NO_SPACE`; what `bytes` throws.
 */
export async function receiveStream(
  bytes: AsyncIterable<Uint8Array>,
  writer: BlobWriter,
  { declaredSize = 0, maxBytes }: BytesToReceive,
  allowance: Allowance,
): Promise<Digests> {
  try {
    for await (const chunk of bytes) {
      const size = writer.size + chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      if (size > allowance.bytes) await allowance.grow(size)
      const pause = writer.add(chunk)
      // Waiting for nothing would cost a turn for every chunk.
      if (pause !== undefined) await pause
    }
    if (writer.size < declaredSize) throw incomplete(writer.size, declaredSize)
  } catch (error) {
    await writer.abort()
    throw error
  }
  return writer.finish()
}

/** An upload past its cap. */
export function tooLarge(maxBytes: number): DomainError {
  const message = `Cannot keep the upload: at most ${maxBytes} bytes are taken`
  return new DomainError('UPLOAD_TOO_LARGE', message)
}

function incomplete(size: number, declared: number): DomainError {
  const message = `Cannot keep the upload: ${size} of ${declared} bytes came`
  return new DomainError('UPLOAD_INCOMPLETE', message)
}
