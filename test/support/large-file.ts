/**
 * A large file of which no two stretches are alike, which costs the disk nearly nothing.
 * @module
 */

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { sha256Of } from './hashes.ts'

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
  return { path, size, sha256: await sha256Of(createReadStream(path, { highWaterMark: STRETCH })) }
}
