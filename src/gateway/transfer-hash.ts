/**
 * The SHA-256 of bytes on their way: as the reference protocol has it since 3.3, in 64 hex digits
 * in upper case, and in the fields of RFC 9530.
 * @module
 */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import { countFields, findField } from '../http/request-head.ts'
import { parseBytesMember } from '../http/field-values.ts'
import type { HashedBlob } from '../ports/blob.ts'
import type { ReceivedUpload } from '../ports/staging-area.ts'

/** The header of it. */
export const TRANSFER_HASH = 'X-SyncClipboard-Transfer-Data-Hash'

const HASH = /^[0-9a-f]{64}$/i

/**
 * Reads the hash that a client promises for its bytes.
 *
 * @returns `undefined` when it promises none.
 * @throws {HttpError} `BAD_REQUEST`.
 */
export function readTransferHash({ rawHeaders }: IncomingMessage): string | undefined {
  const name = TRANSFER_HASH.toLowerCase()
  const hash = findField(rawHeaders, name)
  if (hash === undefined) return undefined
  if (countFields(rawHeaders, name) === 1 && HASH.test(hash)) return hash.toLowerCase()
  throw new HttpError('BAD_REQUEST', TRANSFER_HASH)
}

/**
 * Holds bytes to the promise.
 *
 * @throws {HttpError} `history_data_invalid`.
 */
export function checkTransferHash(promised: string | undefined, { digests }: HashedBlob): void {
  if (promised === undefined || promised === digests.sha256) return
  throw new HttpError('history_data_invalid', 'the hash is that of other bytes')
}

/** Whether a hash is the SHA-256 of a text as UTF-8, in hex of any letter case. */
export function isHashOf(hash: string, text: string): boolean {
  return createHash('sha256').update(text).digest('hex') === hash.toLowerCase()
}

/** The SHA-256 that a client promises, in lower-case hex; `undefined` where it promises none. */
export interface PromisedDigests {
  /** That of the body of its request. */
  readonly content: string | undefined
  /** That of the whole, of which the body may be a part. */
  readonly whole: string | undefined
}

/** The fields of a promise by RFC 9530: of the body, and of the whole. */
export const DIGEST_FIELDS = ['content-digest', 'repr-digest'] as const

/** Reads `Content-Digest` and `Repr-Digest`. Other algorithms are ignored, as RFC 9530 allows. */
export function readDigests({ headers }: IncomingMessage): PromisedDigests {
  const [content, whole] = DIGEST_FIELDS.map((name) => {
    const digest = parseBytesMember(headers[name], 'sha-256')
    // A digest of another length is malformed, and such fields are ignored.
    return digest?.length === 32 ? Buffer.from(digest).toString('hex') : undefined
  })
  return { content, whole }
}

/** Passes bytes on, and throws {@link HttpError} `DIGEST_MISMATCH` at the end of others. */
export async function* checkDigest(
  bytes: AsyncIterable<Uint8Array>,
  promised: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== promised) throw new HttpError('DIGEST_MISMATCH')
}

/**
 * Holds an upload that is whole to its digests, and gives it up when it has others.
 *
 * @throws {HttpError} `DIGEST_MISMATCH`.
 */
export async function checkWhole(
  upload: ReceivedUpload,
  ...promised: readonly (string | undefined)[]
): Promise<void> {
  const { sha256 } = upload.blob.digests
  if (promised.every((digest) => digest === undefined || digest === sha256)) return
  await upload.discard()
  throw new HttpError('DIGEST_MISMATCH')
}
