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

/** The SHA-256 of bytes that come one after the other. */
export async function sha256Of(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
