/**
 * The bytes of a blob, to be sent: read as they go out, and never whole in memory.
 *
 * @module
 */

import type { ByteSource } from '../client/server.ts'
import { KIB } from '../core/limits.ts'
import type { Blob } from '../ports/blob.ts'

const PIECE_BYTES: number = 256 * KIB

export function byteSourceOf(blob: Blob, mediaType: string): ByteSource {
  return {
    size: blob.size,
    type: mediaType,
    stream: () => readPieces(blob),
  }
}

async function* readPieces(blob: Blob): AsyncGenerator<Uint8Array> {
  const opened = await blob.open()
  try {
    for (let position = 0; position < blob.size; ) {
      // A piece may still be on its way out when the next one is read.
      const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, blob.size - position))
      const length = await opened.read(piece, position)
      if (length === 0) throw new Error('The bytes end too soon')
      yield piece.subarray(0, length)
      position += length
    }
  } finally {
    await opened.close()
  }
}
