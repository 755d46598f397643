/**
 * The cookie of the panel.
 *
 * Cookies know no ports, so its name says which daemon on this machine it is for.
 *
 * @module
 */

import type { Call } from '../http/call.ts'
import { readCookies } from './read-cookies.ts'
import { SESSION_TTL_MS } from './panel-sessions.ts'

type CookieCall = Pick<Call, 'request'>

/** What a request gives as our cookie; several values when others set one of that name. */
export function readSessionCookies(call: CookieCall): readonly string[] {
  return readCookies(call.request.headers.cookie, nameOf(call))
}

/** The value of `Set-Cookie` that begins a session. */
export function formatSessionCookie(call: CookieCall, value: string): string {
  const seconds = Math.floor(SESSION_TTL_MS / 1000)
  return `${nameOf(call)}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}`
}

/** The value of `Set-Cookie` that makes the browser forget. */
export function formatNoCookie(call: CookieCall): string {
  return `${nameOf(call)}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`
}

function nameOf({ request }: CookieCall): string {
  return `clipgate_panel_${request.socket.localPort}`
}
