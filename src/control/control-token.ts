/**
 * The two bearer tokens of the control listener, made at each start.
 *
 * That of the commands is kept in a private file: whoever can read it owns the data directory
 * anyway. That of the panel is kept in memory: a browser may keep its address in a history and
 * synchronise that, and the owner can end all panels without taking the commands' token away.
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'

export const CONTROL_TOKEN_FILE = 'control.token'

const TOKEN_BYTES = 32

/** More than a page can guess while it waits. */
const QUERY_LENGTH = 12

/** The characters that a header can hold. */
const PRINTABLE = /^[ -~]*$/

/**
 * Makes a new token and keeps it in the data directory; the earlier one is worth nothing.
 *
 * Not synced to the disk, which would take most of the time of a start: a token that a power cut
 * loses is one of a daemon that it ended.
 */
export async function createControlToken(dataDir: string): Promise<string> {
  const token = mintToken()
  await replaceFile(join(dataDir, CONTROL_TOKEN_FILE), `${token}\n`)
  return token
}

/**
 * Reads the token that commands send.
 *
 * @throws The error of the failing system call; {TypeError} when there is no token in the file.
 */
export async function readControlToken(dataDir: string): Promise<string> {
  const token = (await readFile(join(dataDir, CONTROL_TOKEN_FILE), 'utf8')).trim()
  if (PRINTABLE.test(token)) return token
  throw new TypeError(`Cannot read ${CONTROL_TOKEN_FILE}: it holds no token`)
}

function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Compares in a time that says nothing about where the two differ. */
export function isSameToken(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The token that opens the panel, for as long as this daemon runs. */
export class PanelToken {
  #text = mintToken()

  /**
   * The address that opens the panel. No server is ever sent the part behind the `#`. The query is
   * another one each time, so that a tab loads the page again wherever it is: a page that somebody
   * else had served on our port would see a change of the fragment alone.
   */
  addressAt(host: string): string {
    return `http://${host}/?${mintToken().slice(0, QUERY_LENGTH)}#${this.#text}`
  }

  matches(given: string): boolean {
    return isSameToken(given, this.#text)
  }

  /** Takes another token; pages that have the earlier one are signed out. */
  renew(): void {
    this.#text = mintToken()
  }
}
