/** How requests name a batch of uploads, and what is made of it. @module */

import { isBatchId } from '../../core/item.ts'
import { MAX_BATCH_UPLOADS } from '../../core/limits.ts'
import { badBody, HttpError } from '../../http/http-error.ts'
import type { BatchBytes } from '../../ports/inbound-pipeline.ts'
import type { BatchMember } from '../../ports/staging-area.ts'

/** The header of an upload that belongs to a batch: `{batch}/{number}`. */
const BATCH_HEADER = 'X-Clipgate-Batch'

/** The same in lower case. */
export const BATCH_FIELD: string = BATCH_HEADER.toLowerCase()

/**
 * Reads the place of an upload in a batch; `undefined` when it has none.
 *
 * @throws {HttpError} `BAD_REQUEST`.
 */
export function readMember(headers: NodeJS.Dict<string | string[]>): BatchMember | undefined {
  const member = findMember(headers)
  if (member !== undefined || headers[BATCH_FIELD] === undefined) return member
  const detail = `"${BATCH_HEADER}" must be 32 hex digits, a slash, and 1 to ${MAX_BATCH_UPLOADS}`
  throw new HttpError('BAD_REQUEST', detail)
}

/** As {@link readMember}; a header that does not parse counts as not sent. */
export function findMember(headers: NodeJS.Dict<string | string[]>): BatchMember | undefined {
  const [batch = '', digits = '', ...rest] = String(headers[BATCH_FIELD]).split('/')
  const number = /^[1-9][0-9]{0,3}$/.test(digits) ? Number(digits) : 0
  return rest.length === 0 && isBatchId(batch) && isNumber(number) ? { batch, number } : undefined
}

/**
 * Reads the fields of a document that name uploads of a batch, of which it has one at least.
 *
 * @param batch As the document has it, and so is `members`.
 * @throws {HttpError} `BAD_BODY`.
 */
export function readBatch(batch: unknown, members: unknown): BatchBytes {
  if (typeof batch !== 'string' || !isBatchId(batch)) {
    throw badBody('"batch" must be 32 hex digits')
  }
  const isList = Array.isArray(members) && members.length > 0
  const numbers = isList && members.length <= MAX_BATCH_UPLOADS ? members.filter(isNumber) : []
  if (isList && numbers.length === members.length && new Set(numbers).size === numbers.length) {
    return { kind: 'batch', batch, numbers }
  }
  const detail = `"members" must be different numbers from 1 to ${MAX_BATCH_UPLOADS}`
  throw badBody(detail)
}

function isNumber(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_BATCH_UPLOADS
}
