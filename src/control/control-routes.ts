/**
 * The endpoint table of the control listener: the port `Admin`, over HTTP.
 * @module
 */

import { route, type Handler, type Route } from '../http/call.ts'
import { json } from '../http/reply.ts'
import type { Admin, Pairing } from '../ports/admin.ts'
import { decodeJoinRequest, decodePairRequest, decodeRotateRequest } from './admin-wire.ts'
import { checkOwnHost, type Owner } from './authorize.ts'
import { jsonRoute, readMembers } from './control-json.ts'

/** The narrowest quiet zone that the package `qr` draws, in modules. */
const BORDER = 1

/** Endpoints that need no token: whether the daemon lives is no secret on its own machine. */
export function createPublicControlRoutes(): readonly Route<undefined>[] {
  const health: Handler = (call) => {
    checkOwnHost(call)
    return json({ status: 'ok' })
  }
  return [route('GET', '/health', health)]
}

/** Endpoints of the port `Admin`. */
export function createControlRoutes(admin: Admin): readonly Route<Owner>[] {
  return [
    jsonRoute('GET', '/status', () => admin.status()),
    jsonRoute('GET', '/devices', () => admin.devices()),
    jsonRoute('POST', '/devices', async (call) => {
      return withQr(await admin.pair(await readMembers(call, decodePairRequest)))
    }),
    jsonRoute('POST', '/devices/{id}/rotate', async (call) => {
      const { url } = await readMembers(call, decodeRotateRequest)
      return withQr(await admin.rotate(call.params.id, url))
    }),
    jsonRoute('DELETE', '/devices/{id}', ({ params }) => admin.revoke(params.id)),
    jsonRoute('GET', '/peers', () => admin.peers()),
    jsonRoute('POST', '/peers', async (call) => {
      return admin.join(await readMembers(call, decodeJoinRequest))
    }),
    jsonRoute('DELETE', '/peers/{name}', ({ params }) => admin.leave(params.name)),
  ]
}

async function withQr(pairing: Pairing): Promise<Pairing & { readonly qr: readonly string[] }> {
  return { ...pairing, qr: await qrRows(pairing.link) }
}

/** The modules of the code of `text`, without quiet zone: a row is a string of `0` and `1` (dark). */
async function qrRows(text: string): Promise<readonly string[]> {
  // Few daemons are asked for a code; the others should not wait for this package.
  const { encodeQR } = await import('qr')
  // As the terminal shows it: screens need little error correction, and cameras large modules.
  const modules = encodeQR(text, 'raw', { ecc: 'low', border: BORDER }).slice(BORDER, -BORDER)
  return modules.map((row) => Array.from(row.slice(BORDER, -BORDER), Number).join(''))
}
