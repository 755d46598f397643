/**
 * Compares downloaded bytes with the hash that their document told.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { nameHashOf } from '../core/content-id.ts'
import { CommandError } from './command.ts'

/** What a document tells of its bytes. */
export interface Described {
  readonly hash: string
  readonly dataName: string
}

/**
 * Accepts the hash of the bytes, and the name-bound one that other servers of the protocol tell.
 *
 * @param sha256 Of the bytes that came, in lower-case hex.
 * @throws {CommandError} when neither matches. A document without a hash says nothing.
 */
export function verifyDownload({ hash, dataName }: Described, sha256: string): void {
  const told = hash.toLowerCase()
  if (told === '' || told === sha256 || told === nameHashOf(dataName, sha256, sha256Of)) return
  throw new CommandError('Cannot keep what was downloaded: its hash is another one; pull again')
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
