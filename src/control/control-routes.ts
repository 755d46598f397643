/**
 * The endpoint table of the control listener: the port `Admin`, over HTTP.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { KIB } from '../core/limits.ts'
import { route, type Call, type Handler, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { readJson } from '../http/read-body.ts'
import { json, type Reply } from '../http/reply.ts'
import { LinkError } from '../link/link-error.ts'
import type { Decoder } from '../lib/decoder.ts'
import type { Admin } from '../ports/admin.ts'
import { decodeJoinRequest, decodePairRequest } from './admin-wire.ts'
import { checkOwnHost } from './authorize.ts'
import { isOwnerErrorCode, statusOf } from './owner-errors.ts'

/** A label, a user name, a password and a URL fit many times. */
const MAX_PAIR_REQUEST_BYTES: number = 64 * KIB

/** Endpoints that need no token: whether the daemon lives is no secret on its own machine. */
export function createPublicControlRoutes(): readonly Route[] {
  const health: Handler = (call) => {
    checkOwnHost(call)
    return json({ status: 'ok' })
  }
  return [route('GET', '/health', health)]
}

export function createControlRoutes(admin: Admin): readonly Route<'owner'>[] {
  const take = { maxBody: MAX_PAIR_REQUEST_BYTES }
  return [
    route(
      'GET',
      '/status',
      answer(() => admin.status()),
    ),
    route(
      'GET',
      '/devices',
      answer(() => admin.devices()),
    ),
    route(
      'POST',
      '/devices',
      answer(async (call) => admin.pair(await readRequest(call, decodePairRequest))),
      take,
    ),
    route(
      'POST',
      '/devices/{id}/rotate',
      answer<{ id: string }>(({ params }) => admin.rotate(params.id)),
      take,
    ),
    route(
      'DELETE',
      '/devices/{id}',
      answer<{ id: string }>(({ params }) => admin.revoke(params.id)),
    ),
    route(
      'GET',
      '/peers',
      answer(() => admin.peers()),
    ),
    route(
      'POST',
      '/peers',
      answer(async (call) => admin.join(await readRequest(call, decodeJoinRequest))),
      take,
    ),
    route(
      'DELETE',
      '/peers/{name}',
      answer<{ name: string }>(({ params }) => admin.leave(params.name)),
    ),
  ]
}

/** Answers with what `ask` finds out, or with why it could not. */
function answer<Params = unknown>(
  ask: (call: Call<'owner', Params>) => Promise<unknown>,
): Handler<'owner', Params> {
  return async (call) => {
    try {
      return json(await ask(call))
    } catch (error) {
      return problem(error)
    }
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

async function readRequest<Value>(call: Call<'owner'>, decode: Decoder<Value>): Promise<Value> {
  const body = await readJson(call, MAX_PAIR_REQUEST_BYTES)
  try {
    return decode(body)
  } catch (error) {
    if (error instanceof TypeError) throw new HttpError('BAD_BODY', { detail: error.message })
    throw error
  }
}
