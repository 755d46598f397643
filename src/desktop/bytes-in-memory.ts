/** Bytes in memory, to be read like those of a file. @module */

import type { Blob } from '../ports/blob.ts'

/** Reads `bytes` as those of a file are read. */
export function bytesInMemory(bytes: Uint8Array): Pick<Blob, 'size' | 'open'> {
  return {
    size: bytes.length,
    open: async () => ({
      read: async (target, position) => {
        const part = bytes.subarray(position, position + target.length)
        target.set(part)
        return part.length
      },
      close: async () => undefined,
    }),
  }
}
