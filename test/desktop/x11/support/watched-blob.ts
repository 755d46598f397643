/** Blobs that tell when they are closed. @module */

import type { Blob } from '../../../../src/ports/blob.ts'
import { defer } from '../../../support/defer.ts'

export interface WatchedBlob {
  readonly blob: Blob
  readonly bytes: Buffer
  /** Resolves when it was opened and closed. */
  readonly closed: Promise<void>
  isClosed(): boolean
}

/** A blob that tells when it is closed, and holds fewer bytes than it says if asked to. */
export function watched(bytes: Buffer, available: number = bytes.length): WatchedBlob {
  let isClosed = false
  const { promise: closed, resolve } = defer<void>()
  const blob: Blob = {
    size: bytes.length,
    open: async () => ({
      read: async (target, position) => {
        const end = Math.max(position, Math.min(position + target.length, available))
        target.set(bytes.subarray(position, end))
        return end - position
      },
      close: async () => {
        isClosed = true
        resolve()
      },
    }),
  }
  return { blob, bytes, closed, isClosed: () => isClosed }
}
