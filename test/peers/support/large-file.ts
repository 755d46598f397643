/** A file that is larger than anybody wants to keep in memory: made while it is sent. @module */

import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByteSource } from '../../../src/client/server.ts'
import { MIB } from '../../../src/core/limits.ts'
import { sha256Of } from '../../support/hashes.ts'

export interface LargeFile extends ByteSource {
  /** In hex. */
  readonly sha256: string
}

/** So many MiB, each of them another one. Streamed more than once, it is the same. */
export function makeLargeFile(mebibytes: number): LargeFile {
  const base = randomBytes(MIB)
  const piece = (index: number): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(base)
    new DataView(bytes.buffer).setUint32(0, index)
    return bytes
  }
  const hash = createHash('sha256')
  for (let index = 0; index < mebibytes; index += 1) hash.update(piece(index))

  async function* pieces(start: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let index = Math.floor(start / MIB); index < mebibytes; index += 1) {
      yield piece(index).subarray(Math.max(0, start - index * MIB))
    }
  }
  const from = (start: number): ByteSource => ({
    size: mebibytes * MIB - start,
    type: 'application/octet-stream',
    stream: () => ReadableStream.from(pieces(start)) as ReadableStream<Uint8Array<ArrayBuffer>>,
    slice: (offset) => from(start + offset),
  })
  return { ...from(0), sha256: hash.digest('hex') }
}

/** SHA-256 of the only file in a folder, in hex. */
export async function hashOnlyFile(folder: string): Promise<string> {
  const [name = '', ...others] = await readdir(folder)
  if (others.length > 0) throw new Error(`There are ${others.length + 1} files in ${folder}`)
  return sha256Of(createReadStream(join(folder, name), { highWaterMark: MIB }))
}

/** Bytes of the largest file in a folder so far. */
export async function largestIn(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => {
    // It may go meanwhile.
    const stats = await stat(join(folder, name)).catch(() => undefined)
    return stats?.size ?? 0
  })
  return Math.max(0, ...(await Promise.all(sizes)))
}
