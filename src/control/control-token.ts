/**
 * The bearer token of the control listener: made at each start, kept in a private file.
 *
 * Whoever can read the file owns the data directory anyway.
 *
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'

/** Its file in the data directory. */
export const CONTROL_TOKEN_FILE = 'control.token'

const TOKEN_BYTES = 32

/** What a header can hold. */
const PRINTABLE = /^[ -~]*$/

/**
 * Makes a new token and keeps it in the data directory; the earlier one is worth nothing.
 *
 * Not synced to the disk, which would take most of the time of a start: a token that a power cut
 * loses is one of a daemon that it ended.
 *
 * @throws The error of the failing system call.
 */
export async function createControlToken(dataDir: string): Promise<string> {
  const token = mintToken()
  await replaceFile(join(dataDir, CONTROL_TOKEN_FILE), `${token}\n`)
  return token
}

/** @throws The error of the failing system call; {TypeError} when there is no token in the file. */
export async function readControlToken(dataDir: string): Promise<string> {
  const token = (await readFile(join(dataDir, CONTROL_TOKEN_FILE), 'utf8')).trim()
  if (!PRINTABLE.test(token))
    throw new TypeError(`Cannot read ${CONTROL_TOKEN_FILE}: it holds no token`)
  return token
}

/** A new token that nobody can guess. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Compares in a time that says nothing about where the two differ. */
export function isSameToken(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
