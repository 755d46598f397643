/**
 * MD5, which old clients still name pictures by. It proves nothing to anybody; it only tells
 * whether such a client means what is there.
 *
 * @module
 */

import { createHash } from 'node:crypto'

const BLOCK_BYTES: number = 256 * 1024

/** Bytes at rest; structurally a `Blob` of the ports. */
interface Readable {
  readonly size: number
  open(): Promise<{
    read(target: Uint8Array, position: number): Promise<number>
    close(): Promise<void>
  }>
}

/**
 * In lower-case hex. Reads block by block.
 *
 * @throws What the blob throws.
 */
export async function md5Of(blob: Readable): Promise<string> {
  const hash = createHash('md5')
  const block = new Uint8Array(Math.min(BLOCK_BYTES, blob.size))
  const opened = await blob.open()
  try {
    for (let position = 0; position < blob.size; ) {
      const count = await opened.read(block, position)
      if (count === 0) break
      hash.update(block.subarray(0, count))
      position += count
    }
  } finally {
    await opened.close()
  }
  return hash.digest('hex')
}
