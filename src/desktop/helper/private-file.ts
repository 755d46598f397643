/**
 * A file that a clipboard helper and its adapter share for one request: contents are too long for a
 * line, and no business of anybody else.
 *
 * Each has a folder of its own: what cleans temporary folders up would remove one that is kept.
 *
 * @module
 */

import { constants } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIB } from '../../core/limits.ts'
import type { Blob } from '../../ports/blob.ts'

const FILE_MODE = 0o600

const BLOCK_BYTES: number = MIB

/** On Windows a file cannot be removed while somebody scans it for viruses. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const

/** Makes an empty file (0600, in a new folder of 0700), and removes it when `use` is done. */
export async function withPrivateFile<T>(use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-'))
  try {
    const path = join(folder, 'content')
    const file = await open(path, 'wx', FILE_MODE)
    await file.close()
    return await use(path)
  } finally {
    await rm(folder, REMOVAL)
  }
}

/** @throws {Error} When the file does not have exactly so many bytes. */
export async function readPrivateFile(path: string, bytes: number): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size !== bytes) throw incomplete()
    const content = Buffer.alloc(bytes)
    for (let position = 0; position < bytes; ) {
      const { bytesRead } = await file.read(content, position, bytes - position, position)
      if (bytesRead === 0) throw incomplete()
      position += bytesRead
    }
    return content
  } finally {
    await file.close()
  }
}

/** Copies `content` into a file that {@link withPrivateFile} made. */
export async function fillPrivateFile(path: string, content: Uint8Array | Blob): Promise<void> {
  const file = await open(path, 'r+')
  try {
    if (content instanceof Uint8Array) await file.writeFile(content)
    else for await (const block of blocksOf(content)) await file.writeFile(block)
  } finally {
    await file.close()
  }
}

async function* blocksOf(blob: Blob): AsyncGenerator<Uint8Array> {
  const source = await blob.open()
  try {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, blob.size))
    for (let position = 0; position < blob.size; ) {
      const count = await source.read(block, position)
      if (count === 0) throw new Error('Cannot offer the image: bytes are missing')
      yield block.subarray(0, count)
      position += count
    }
  } finally {
    await source.close()
  }
}

function incomplete(): Error {
  return new Error('The clipboard helper did not hand over what was copied')
}
