/**
 * The endpoint table of the control listener: the port `Admin`, over HTTP.
 *
 * @module
 */

import { route, type Handler, type Route } from '../http/call.ts'
import { json } from '../http/reply.ts'
import type { Admin, Pairing } from '../ports/admin.ts'
import { decodePairRequest, decodeRotateRequest } from './admin-wire.ts'
import { answer, MAX_REQUEST_BYTES, readMembers } from './answer.ts'
import { checkOwnHost, type Owner } from './authorize.ts'
import { qrRows } from './qr-rows.ts'

/** Endpoints that need no token: whether the daemon lives is no secret on its own machine. */
export function createPublicControlRoutes(): readonly Route<undefined>[] {
  const health: Handler = (call) => {
    checkOwnHost(call)
    return json({ status: 'ok' })
  }
  return [route('GET', '/health', health)]
}

export function createControlRoutes(admin: Admin): readonly Route<Owner>[] {
  const take = { maxBody: MAX_REQUEST_BYTES }
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
      answer(async (call) => withQr(await admin.pair(await readMembers(call, decodePairRequest)))),
      take,
    ),
    route(
      'POST',
      '/devices/{id}/rotate',
      answer<{ id: string }>(async (call) => {
        const { url } = await readMembers(call, decodeRotateRequest)
        return withQr(await admin.rotate(call.params.id, url))
      }),
      take,
    ),
    route(
      'DELETE',
      '/devices/{id}',
      answer<{ id: string }>(({ params }) => admin.revoke(params.id)),
    ),
  ]
}

async function withQr(pairing: Pairing): Promise<Pairing & { readonly qr: readonly string[] }> {
  return { ...pairing, qr: await qrRows(pairing.link) }
}
