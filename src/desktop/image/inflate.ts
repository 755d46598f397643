/**
 * Decompresses zlib streams, in the threads of Node and not in ours.
 *
 * @module
 */

import { pipeline, Readable } from 'node:stream'
import { PictureError } from './picture.ts'

const CHUNK_BYTES: number = 64 * 1024

/**
 * What `pieces` decompress to, in chunks of a bounded length. Whoever has enough of it may leave.
 *
 * @throws {PictureError} When it is damaged or ends early; what `pieces` throws.
 */
export async function* inflate(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Loaded when an image is compared, which is seldom.
  const { createInflate } = await import('node:zlib')
  const source = Readable.from(pieces, { objectMode: true, highWaterMark: 1 })
  const inflating = createInflate({ chunkSize: CHUNK_BYTES })
  // Failures come out of the loop below.
  pipeline(source, inflating, () => undefined)
  try {
    for await (const chunk of inflating) yield chunk
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'Z_BUF_ERROR') throw new PictureError('TRUNCATED', 'it ends early')
    if (code.startsWith('Z_')) throw new PictureError('MALFORMED', 'its pixels are damaged')
    throw error
  } finally {
    source.destroy()
    inflating.destroy()
  }
}
