/**
 * A file that a clipboard helper and its adapter share for one request: contents are too long for a
 * line, and no other user may read them. Each has a folder of its
 * own: what cleans temporary folders up would remove one that is kept.
 * @module
 */

import { constants } from 'node:fs'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIB } from '../../core/limits.ts'
import { blocksOf } from '../../lib/read-bytes.ts'
import { isPidTaken } from '../../lib/system-error.ts'
import type { Blob } from '../../ports/blob.ts'

/** Folders are named after the process that made them. */
const FOLDER_NAME = /^clipgate-exchange-(\d+)-\w{6}$/

const FILE_MODE = 0o600

const BLOCK_BYTES: number = MIB

/** On Windows a file cannot be removed while somebody scans it for viruses. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const

/** Makes an empty file (0600, in a new folder of 0700), and removes it when `use` is done. */
export async function withExchangeFile<T>(use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `clipgate-exchange-${process.pid}-`))
  try {
    const path = join(folder, 'content')
    const file = await open(path, 'wx', FILE_MODE)
    await file.close()
    return await use(path)
  } finally {
    await rm(folder, REMOVAL)
  }
}

/**
 * Removes what processes have left that were killed during a request. What cannot be removed is not
 * ours, and stays.
 */
export async function sweepExchangeFiles(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names) {
    const [, pid] = FOLDER_NAME.exec(name) ?? []
    if (pid === undefined || isPidTaken(Number(pid))) continue
    await rm(join(tmpdir(), name), REMOVAL).catch(() => undefined)
  }
}

/** Reads what the helper left. @throws {Error} When it is a link, or has not `size` bytes. */
export async function readExchangeFile(path: string, size: number): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = await file.stat()
    const isComplete = stats.isFile() && stats.size === size
    const { bytesRead, buffer } = await file.read(Buffer.alloc(isComplete ? size : 0))
    if (isComplete && bytesRead === size) return buffer
    throw new Error('The clipboard helper did not hand over what was copied')
  } finally {
    await file.close()
  }
}

/** Copies `content` into an empty file. @throws {Error} When a blob ends before its size. */
export async function fillExchangeFile(path: string, content: Uint8Array | Blob): Promise<void> {
  const file = await open(path, 'r+')
  try {
    if (content instanceof Uint8Array) return await file.writeFile(content)
    let written = 0
    for await (const block of blocksOf(content, { blockSize: BLOCK_BYTES })) {
      await file.writeFile(block)
      written += block.length
    }
    if (written < content.size) throw new Error('Cannot offer the image: bytes are missing')
  } finally {
    await file.close()
  }
}
