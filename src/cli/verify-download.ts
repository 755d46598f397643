/**
 * Compares downloaded bytes with the hash that their document told.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { CommandError } from './command.ts'

/** What a document tells of its bytes. */
export interface Described {
  readonly hash: string
  readonly dataName: string
}

/**
 * Accepts the hash of the bytes, and the name-bound one that other servers of the protocol tell:
 * SHA-256 of `dataName + "|" + UPPER-HEX(SHA-256 of the bytes)`.
 *
 * @throws {CommandError} when neither matches. A document without a hash says nothing.
 */
export function verifyDownload({ hash, dataName }: Described, sha256: string): void {
  const told = hash.toLowerCase()
  if (told === '' || told === sha256 || told === nameBound(dataName, sha256)) return
  throw new CommandError('Cannot keep what was downloaded: its hash is another one; pull again')
}

function nameBound(dataName: string, sha256: string): string {
  return createHash('sha256').update(`${dataName}|${sha256.toUpperCase()}`).digest('hex')
}
