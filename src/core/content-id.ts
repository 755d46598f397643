/**
 * Content identity: equal content has equal ids, whatever it is called.
 *
 * The id hashes a tagged digest, so that a text and a file of the same bytes differ:
 * `BLAKE3("snapshot-hash-v1|" + D)`, where D is the BLAKE3 of the text or image bytes, and for
 * File and Group `BLAKE3("file-content|" + BLAKE3(bytes))`. The computing is done in `hashing`.
 * @module
 */

/** `blake3v1:` and 64 lower-case hex digits. Opaque to clients. */
export type ContentId = `blake3v1:${string}`

/** Digests of the same bytes, 64 lower-case hex digits each. */
export interface Digests {
  readonly sha256: string
  readonly blake3: string
}

/** Precedes the digest in every content id. */
export const SNAPSHOT_TAG = 'snapshot-hash-v1|'

/** Precedes the digest of the bytes of a File or a Group. */
export const FILE_TAG = 'file-content|'

const CONTENT_ID = /^blake3v1:[0-9a-f]{64}$/

/** Whether `value` is spelled like a content id. */
export function isContentId(value: unknown): value is ContentId {
  return typeof value === 'string' && CONTENT_ID.test(value)
}

/**
 * The name-bound hash of the reference protocol, with which its clients verify downloads: SHA-256,
 * in lower-case hex, of `dataName + "|" + UPPER-HEX(SHA-256 of the bytes)`.
 *
 * @param sha256 Of the bytes, in hex.
 * @param digest Computes the SHA-256 of a text as UTF-8, in lower-case hex.
 */
export function nameHashOf(
  dataName: string,
  sha256: string,
  digest: (text: string) => string,
): string {
  return digest(`${dataName}|${sha256.toUpperCase()}`)
}
