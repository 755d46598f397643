/**
 * The hash of bytes on their way, as the reference protocol has it since 3.3: SHA-256, as 64
 * hex digits in upper case.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import { countFields, findField } from '../http/raw-fields.ts'
import type { HashedBlob } from '../ports/blob.ts'

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
  throw new HttpError('BAD_REQUEST', { detail: TRANSFER_HASH })
}

/**
 * Holds bytes to the promise.
 *
 * @throws {HttpError} `history_data_invalid`.
 */
export function checkTransferHash(promised: string | undefined, { digests }: HashedBlob): void {
  if (promised === undefined || promised === digests.sha256) return
  throw new HttpError('history_data_invalid', { detail: 'the hash is that of other bytes' })
}
