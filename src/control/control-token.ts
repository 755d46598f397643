/**
 * The bearer token of the control listener: made at each start, kept in a private file.
 *
 * Whoever can read the file owns the data directory anyway.
 *
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivateFile, temporaryPath } from '../lib/atomic-file.ts'

const FILE_NAME = 'control.token'

const TOKEN_BYTES = 32

/**
 * Makes a new token and keeps it in the data directory; the earlier one is worth nothing.
 *
 * Not synced to the disk, which would take most of the time of a start: a token that a power cut
 * loses is one of a daemon that it ended.
 */
export async function createControlToken(dataDir: string): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const path = join(dataDir, FILE_NAME)
  const temporary = temporaryPath(path)
  const file = await createPrivateFile(temporary)
  try {
    await file.writeFile(`${token}\n`)
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  return token
}

/** @throws The error of the failing system call. */
export async function readControlToken(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, FILE_NAME), 'utf8')).trim()
}

/** Compares in a time that says nothing about where the two differ. */
export function isSameToken(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
