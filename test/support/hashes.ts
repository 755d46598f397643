/** Hashes in lower-case hex. @module */

import { createHash } from 'node:crypto'

/** The SHA-256 of bytes, or of a text's UTF-8. */
export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The MD5 of bytes, or of a text's UTF-8. */
export function md5(bytes: string | Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}
