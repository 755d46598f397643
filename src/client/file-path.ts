/**
 * Where the bytes of a `dataName` are.
 *
 * @module
 */

import { isDataName } from '../core/data-name.ts'
import { ClientError } from './client-error.ts'

/** @throws {ClientError} `ARGUMENT_INVALID` for a name that the protocol does not allow. */
export function filePath(dataName: string): string {
  if (isDataName(dataName)) return `/file/${encodeURIComponent(dataName)}`
  throw new ClientError('ARGUMENT_INVALID', { reason: 'the data name is not a plain file name' })
}
