/**
 * JSON over the control listener: how requests are read and answered, and how failures that the
 * owner can mend are told.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { KIB } from '../core/limits.ts'
import { route, type Call, type PathParams, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { parseJson } from '../http/json-body.ts'
import { type BodyCall, readBytes } from '../http/read-body.ts'
import type { Reply } from '../http/reply.ts'
import type { Decoder } from '../lib/decoder.ts'
import { LinkError } from '../link/link-error.ts'
import type { Owner } from '../core/owner.ts'
import { OWNER_ERROR_STATUS } from './admin-wire.ts'

/** A label, a user name, a password and a URL fit many times. */
const MAX_REQUEST_BYTES = 64 * KIB

/** Answers are for programs and for the panel alone; no other page may have them. */
const HEADERS: readonly string[] = [
  ...['Content-Type', 'application/json'],
  ...['Cache-Control', 'no-store'],
  ...['Referrer-Policy', 'no-referrer'],
]

/**
 * Makes a route that answers with the value that `ask` finds out, as JSON, or with the reason why
 * it could not. Only `POST` takes a body.
 */
export function jsonRoute<const Pattern extends string>(
  method: 'GET' | 'POST' | 'DELETE',
  pattern: Pattern,
  ask: (call: Call<Owner, PathParams<Pattern>>) => Promise<unknown>,
): Route<Owner> {
  const handler = async (call: Call<Owner, PathParams<Pattern>>): Promise<Reply> => {
    try {
      return { status: 200, headers: HEADERS, body: withNulls(await ask(call)) }
    } catch (error) {
      return problem(error)
    }
  }
  return route(method, pattern, handler, { maxBody: method === 'POST' ? MAX_REQUEST_BYTES : 0 })
}

/** Formats a value as JSON, with `null` for members that are `undefined`. */
export function withNulls(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (member === undefined ? null : member))
}

/**
 * Reads the JSON object of a request. An empty body is an object without members.
 *
 * @throws {HttpError} `BAD_BODY`, and as `readBytes`.
 */
export async function readMembers<Value>(call: BodyCall, decode: Decoder<Value>): Promise<Value> {
  const bytes = await readBytes(call, MAX_REQUEST_BYTES)
  const members = bytes.length === 0 ? {} : await parseJson(bytes)
  try {
    return decode(members)
  } catch (error) {
    if (error instanceof TypeError) throw new HttpError('BAD_BODY', error.message)
    throw error
  }
}

/** Answers with the code of the domain: commands then say the same with and without a daemon. */
function problem(error: unknown): Reply {
  const isLinkError = error instanceof LinkError
  if (!isLinkError && !(error instanceof DomainError)) throw error
  const { code, message } = error
  const status = isLinkError ? 400 : OWNER_ERROR_STATUS[error.code]
  if (status === undefined) throw error
  const headers = ['Content-Type', 'application/problem+json']
  return { status, headers, body: JSON.stringify({ title: message, status, code }) }
}
