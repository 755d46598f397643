/**
 * A large file of which no two stretches are alike, which costs the disk nearly nothing.
 * @module
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

const STRETCH = 4 * 1024 * 1024

export interface LargeFile {
  readonly path: string
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
}

export async function makeLargeFile(path: string, size: number): Promise<LargeFile> {
  const file = await open(path, 'w')
  for (let at = 0; at < size; at += STRETCH) await file.write(`stretch at ${at}`, at)
  await file.truncate(size)
  await file.close()
  return { path, size, sha256: await hashOf(createReadStream(path)) }
}

export async function hashOf(bytes: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash('sha256')
  // Streams of bytes without an encoding give buffers.
  for await (const chunk of bytes) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
