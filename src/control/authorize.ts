/**
 * Who may use the control listener: programs of this machine that can read the token, the panel's
 * own page in a browser that was let in, and no other page, whatever name it gave to this address.
 *
 * @module
 */

import { isIPv6 } from 'node:net'
import type { Call } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { isSameToken } from './control-token.ts'
import type { PanelSession, PanelSessions } from './panel-sessions.ts'
import { readSessionCookies } from './session-cookie.ts'

const CHALLENGE = ['WWW-Authenticate', 'Bearer realm="clipgate control"']

/** The owner of the daemon, by how they were recognised. */
export type Owner =
  | { readonly by: 'token' }
  | { readonly by: 'session'; readonly session: PanelSession }

/** What is known of a request before anybody knows whose it is. */
export type UnknownCall = Pick<Call, 'request' | 'host'>

const BY_TOKEN: Owner = { by: 'token' }

export interface HostCheck {
  /** Takes pages without an origin of their own, such as local files, for none of another one. */
  readonly isFileWelcome?: boolean
}

/**
 * Refuses requests for another host: the name of a hostile page may have been pointed at us (DNS
 * rebinding). And those that a page of another origin sent.
 *
 * @throws {HttpError} `FORBIDDEN_ORIGIN`.
 */
export function checkOwnHost(
  { request, host }: UnknownCall,
  { isFileWelcome = false }: HostCheck = {},
): void {
  const { localAddress = '', localPort } = request.socket
  const address = isIPv6(localAddress) ? `[${localAddress}]` : localAddress
  // Clients leave the port out where it is the usual one.
  const ports = localPort === 80 ? ['', ':80'] : [`:${localPort}`]
  const own = ports.flatMap((port) => [`${address}${port}`, `localhost${port}`])
  const asked = host?.toLowerCase()
  const { origin } = request.headers
  if (asked === undefined || !own.includes(asked)) {
    throw new HttpError('FORBIDDEN_ORIGIN', {
      detail: 'this is not the name of the control listener',
    })
  }
  if (origin === undefined || origin === `http://${asked}`) return
  if (!isFileWelcome || origin !== 'null') throw new HttpError('FORBIDDEN_ORIGIN')
}

/**
 * Makes the check of the bearer token (RFC 6750), and of the session where there is none.
 *
 * The function throws {@link HttpError} `FORBIDDEN_ORIGIN` or `UNAUTHORIZED`.
 */
export function createAuthorize(
  token: string,
  sessions: Pick<PanelSessions, 'find'>,
): (call: UnknownCall) => Owner | Promise<Owner> {
  return (call) => {
    checkOwnHost(call)
    const { authorization } = call.request.headers
    if (authorization === undefined) return bySession(call)
    const { rawHeaders } = call.request
    const names = rawHeaders.filter((_, index) => index % 2 === 0)
    const isSingle = names.filter((name) => name.toLowerCase() === 'authorization').length === 1
    const given = /^bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1]
    if (isSingle && given !== undefined && isSameToken(given, token)) return BY_TOKEN
    throw unauthorized()
  }

  async function bySession(call: UnknownCall): Promise<Owner> {
    refuseOtherPages(call)
    const session = await sessions.find(readSessionCookies(call))
    if (session === undefined) throw unauthorized()
    return { by: 'session', session }
  }
}

/**
 * A page on another port of this address is of the same site: its requests come with the cookie,
 * and those that only read come without an `Origin`.
 */
function refuseOtherPages({ request }: UnknownCall): void {
  const site = request.headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new HttpError('FORBIDDEN_ORIGIN')
}

function unauthorized(): HttpError {
  return new HttpError('UNAUTHORIZED', { headers: CHALLENGE })
}
