/**
 * How the control listener reads and answers JSON, and tells what the owner can mend.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { KIB } from '../core/limits.ts'
import type { Call, Handler } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { parseJson, readBytes } from '../http/read-body.ts'
import type { Reply } from '../http/reply.ts'
import type { Decoder } from '../lib/decoder.ts'
import { LinkError } from '../link/link-error.ts'
import type { Owner } from './authorize.ts'
import { controlJson } from './control-json.ts'
import { isOwnerErrorCode, statusOf } from './owner-errors.ts'

/** A label, a user name, a password and a URL fit many times. */
export const MAX_REQUEST_BYTES: number = 64 * KIB

/** Answers with what `ask` finds out, or with why it could not. */
export function answer<Params = unknown>(
  ask: (call: Call<Owner, Params>) => Promise<unknown>,
): Handler<Owner, Params> {
  return async (call) => {
    try {
      return controlJson(await ask(call))
    } catch (error) {
      return problem(error)
    }
  }
}

/**
 * Reads a JSON object. No body is one without members.
 *
 * @throws {HttpError} `BAD_BODY`, and as `readBytes`.
 */
export async function readMembers<Value>(
  call: Pick<Call<Owner>, 'request' | 'beginBody' | 'holdBytes'>,
  decode: Decoder<Value>,
): Promise<Value> {
  const bytes = await readBytes(call, MAX_REQUEST_BYTES)
  const members = bytes.length === 0 ? {} : parseJson(bytes)
  try {
    return decode(members)
  } catch (error) {
    if (error instanceof TypeError) throw new HttpError('BAD_BODY', { detail: error.message })
    throw error
  }
}

/** The code of the domain, so that a command can tell what it would tell without a daemon. */
function problem(error: unknown): Reply {
  if (error instanceof LinkError) return problemOf(400, error)
  if (error instanceof DomainError && isOwnerErrorCode(error.code)) {
    return problemOf(statusOf(error.code), error)
  }
  throw error
}

function problemOf(status: number, { code, message }: DomainError | LinkError): Reply {
  const headers = ['Content-Type', 'application/problem+json']
  return { status, headers, body: JSON.stringify({ title: message, status, code }) }
}
