/**
 * `GET /enter?ticket=…`: turns a ticket into a session, and leaves no trace of it in the address.
 *
 * The answer is a page and not a redirect. A browser that was led here by something else than
 * itself, such as a local file, takes a redirect for the doing of that, and would leave the new
 * cookie (`SameSite=Strict`) out of the next request; where a page of ours leads on, it sends it.
 *
 * @module
 */

import type { Handler } from '../http/call.ts'
import type { Reply } from '../http/reply.ts'
import { checkOwnHost } from './authorize.ts'
import type { PanelSessions } from './panel-sessions.ts'
import type { PanelTickets } from './panel-tickets.ts'
import { formatSessionCookie } from './session-cookie.ts'

/** `refresh` without delay replaces the entry in the history of the tab. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/">
<title>clipgate</title>
<p><a href="/">clipgate</a></p>
</html>
`

const HEADERS: readonly string[] = [
  'Content-Type', 'text/html; charset=utf-8',
  'Cache-Control', 'no-store',
  'Content-Security-Policy',
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy', 'no-referrer',
  'Cross-Origin-Opener-Policy', 'same-origin',
  'Cross-Origin-Resource-Policy', 'same-origin',
]

export interface EnterPanelDeps {
  readonly tickets: Pick<PanelTickets, 'redeem'>
  readonly sessions: Pick<PanelSessions, 'begin'>
}

export function enterPanel({ tickets, sessions }: EnterPanelDeps): Handler<undefined> {
  return async (call) => {
    checkOwnHost(call)
    // Programs that look at a link before a person follows it must not use it up.
    if (call.method === 'HEAD') return page([])
    // The page there says how to get a good one.
    if (!tickets.redeem(call.query.get('ticket') ?? '')) return toPanel()
    return page(['Set-Cookie', formatSessionCookie(call, await sessions.begin())])
  }
}

function page(more: readonly string[]): Reply {
  return { status: 200, headers: [...HEADERS, ...more], body: PAGE }
}

function toPanel(): Reply {
  const headers = ['Location', '/', 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer']
  return { status: 303, headers }
}
