/**
 * How many bytes of a blob a download has in memory: a share of what there is for all of them.
 *
 * The first downloads of each client share with those of other clients only, and not with all that
 * one of these has begun and does not read.
 * @module
 */

import { Shares } from '../lib/shares.ts'
import type { ByteRange } from './conditional.ts'
import type { OpenBlobBody } from './reply.ts'

/**
 * Two blocks are in memory for each download. Smaller ones cost throughput in hand-overs, larger
 * ones in cache misses.
 */
const LARGEST_BLOCK: number = 768 * 1024
const SMALLEST_BLOCK: number = 64 * 1024

/** Downloads that begin while there are many have to do with their share of this. */
const ALL_BLOCKS: number = 24 * 1024 * 1024

/** A person's client has no more at a time. */
const FIRST_DOWNLOADS = 2

/** A download under way. */
export interface DownloadBlock {
  readonly bytes: number
  release(): void
}

/** The blocks of memory that downloads are read with. */
export class DownloadBlocks {
  readonly #downloads = new Shares()

  /** Bytes of a block for one more download, which must be released. */
  begin(client: string): DownloadBlock {
    const own = this.#downloads.add(client, 1)
    const rivals = own <= FIRST_DOWNLOADS ? own * this.#downloads.owners : this.#downloads.total
    const share = Math.floor(ALL_BLOCKS / (2 * rivals))
    return {
      bytes: Math.max(SMALLEST_BLOCK, Math.min(LARGEST_BLOCK, share)),
      release: () => void this.#downloads.add(client, -1),
    }
  }
}

/**
 * Moves a part of a blob, reading the next block while the last one is on its way.
 *
 * @param write Resolves when the chunk may be overwritten.
 * @param maxBlock Bytes to move at a time.
 * @throws What `blob` and `write` throw; an `Error` when the blob is shorter than it said.
 */
export async function pumpBlob(
  blob: OpenBlobBody,
  { start, end }: ByteRange,
  write: (chunk: Uint8Array) => Promise<void>,
  maxBlock: number,
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
    // Answered below; until then nobody else may hear of it.
    written.catch(() => undefined)
    position += count
    free = busy ?? Buffer.allocUnsafeSlow(Math.min(blockBytes, end - position))
    busy = block
  }
  await written
}
