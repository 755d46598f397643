/**
 * Moves a part of a blob to somewhere, reading the next block while the last one is on its way.
 * @module
 */

import type { ByteRange } from './byte-range.ts'
import { LARGEST_BLOCK } from './download-blocks.ts'
import type { OpenBlobBody } from './reply.ts'

/**
 * @param write Resolves when the chunk may be overwritten.
 * @param maxBlock Bytes to move at a time.
 * @throws What `blob` and `write` throw; an `Error` when the blob is shorter than it said.
 */
export async function pumpBlob(
  blob: OpenBlobBody,
  { start, end }: ByteRange,
  write: (chunk: Uint8Array) => Promise<void>,
  maxBlock: number = LARGEST_BLOCK,
): Promise<void> {
  const blockBytes = Math.min(maxBlock, end - start)
  let free: Buffer = Buffer.allocUnsafeSlow(blockBytes)
  let busy: Buffer | undefined
  let written: Promise<void> = Promise.resolve()
  for (let position = start; position < end; ) {
    const block = free
    const count = await blob.read(block.subarray(0, end - position), position)
    if (count === 0) throw new Error(`Cannot send a blob: it ended at ${position} of ${end}`)
    await written
    written = write(block.subarray(0, count))
    // Answered below; until then nobody else may be told of it.
    written.catch(() => undefined)
    position += count
    free = busy ?? Buffer.allocUnsafeSlow(Math.min(blockBytes, end - position))
    busy = block
  }
  await written
}
