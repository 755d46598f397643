/**
 * `/SyncClipboardHub`: where clients of the reference protocol hear of changes, over SignalR's JSON
 * protocol on a WebSocket.
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { Call, Handler } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { json } from '../http/reply.ts'
import { acceptKey } from '../http/websocket.ts'
import type { OwnTokens } from '../lib/own-tokens.ts'
import type { Device } from '../ports/device-registry.ts'
import type { Dialects } from './dialect.ts'
import type { DeviceStreams } from './device-streams.ts'

/** Where the hub is. */
export const HUB_PATH = '/SyncClipboardHub'

/** The version of the handshake that all browsers and libraries speak: RFC 6455 section 4.1. */
const VERSION = '13'

const NAME_BYTES = 16

/** Tells a client how to connect: over a WebSocket. */
export function negotiate(tokens: OwnTokens): Handler<Device> {
  return ({ query, principal }) => {
    const asked = query.get('negotiateVersion') ?? '0'
    if (!/^-?\d{1,9}$/.test(asked)) {
      return json({ error: 'The client requested an invalid protocol version' })
    }
    const token = tokens.make(newName(), [principal.id])
    const transports = [{ transport: 'WebSockets', transferFormats: ['Text', 'Binary'] }]
    const isOld = Number(asked) < 1
    return json({
      negotiateVersion: isOld ? 0 : 1,
      connectionId: isOld ? token : newName(),
      connectionToken: isOld ? undefined : token,
      availableTransports: transports,
    })
  }
}

/** A name that no connection has had before. */
function newName(): string {
  return randomBytes(NAME_BYTES).toString('base64url')
}

/** Turns the connection of a client into one to the hub. */
export function connectToHub(
  tokens: OwnTokens,
  streams: Pick<DeviceStreams, 'openHub' | 'hasHub'>,
  dialects: Pick<Dialects, 'noteReads'>,
): Handler<Device> {
  return (call) => {
    const { principal, query } = call
    const accept = readHandshake(call)
    // Some clients open the socket without asking for a token first.
    const token = query.get('id') ?? undefined
    if (token !== undefined) {
      if (!tokens.isOwn(token, [principal.id])) throw new HttpError('NOT_FOUND')
      if (streams.hasHub(principal.id, token)) throw new HttpError('CONFLICT')
    }
    dialects.noteReads(call, 'syncclipboard')
    return {
      status: 101,
      headers: ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Accept', accept],
      body: { attach: (wire) => streams.openHub(principal, wire, token) },
    }
  }
}

/** @returns What the answer has to prove. */
function readHandshake({ request, asksForWebSocket }: Call): string {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = request.headers
  // Without the `Upgrade` that RFC 9110 section 15.5.22 wants: nginx passes it on to clients that
  // speak HTTP/2, where it makes the answer an error of the protocol.
  if (!asksForWebSocket) throw new HttpError('UPGRADE_REQUIRED')
  if (version !== VERSION) {
    throw new HttpError('UPGRADE_REQUIRED', { headers: ['Sec-WebSocket-Version', VERSION] })
  }
  const accept = acceptKey(key)
  if (accept === undefined) throw new HttpError('BAD_REQUEST', 'Sec-WebSocket-Key')
  return accept
}
