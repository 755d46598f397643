/** Bytes on their way into a store, and out of it. @module */

import type { Blob } from '../../src/ports/blob.ts'

/** A stream of these chunks, which says whether it was closed. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** How many chunks were taken. */
  readonly taken: number
  readonly isClosed: boolean
}

export function streamOf(...chunks: readonly (Uint8Array | string)[]): ByteStream {
  let taken = 0
  let isClosed = false
  return {
    get taken() {
      return taken
    },
    get isClosed() {
      return isClosed
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (const chunk of chunks) {
          taken++
          yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
        }
      } finally {
        isClosed = true
      }
    },
  }
}

/** A stream that breaks off with `error` after these chunks. */
export async function* brokenStream(
  error: Error,
  ...chunks: readonly string[]
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
  throw error
}

/** Everything that is in a blob. */
export async function readBlob(blob: Blob): Promise<Buffer> {
  const open = await blob.open()
  try {
    const bytes = Buffer.alloc(blob.size)
    for (let position = 0; position < bytes.length; ) {
      position += await open.read(bytes.subarray(position), position)
    }
    return bytes
  } finally {
    await open.close()
  }
}

export async function readText(blob: Blob): Promise<string> {
  return (await readBlob(blob)).toString()
}
