/**
 * `POST /enter`, and `GET /enter?ticket=…` for people who copy the address: turns a ticket into a
 * session, and leaves no trace of it in the address. What is posted is in no history either.
 *
 * The answer is a page and not a redirect. A browser that was led here by something else than
 * itself, such as a local file, takes a redirect for the doing of that, and would leave the new
 * cookie (`SameSite=Strict`) out of the next request; where a page of ours leads on, it sends it.
 *
 * @module
 */

import { route, type Call, type Handler, type Route } from '../http/call.ts'
import { readBytes } from '../http/read-body.ts'
import type { Reply } from '../http/reply.ts'
import { checkOwnHost } from './authorize.ts'
import type { PanelSessions } from './panel-sessions.ts'
import type { PanelTickets } from './panel-tickets.ts'
import { formatSessionCookie } from './session-cookie.ts'

/** A ticket fits many times. */
const MAX_FORM_BYTES = 1024

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
]

export interface EnterPanelDeps {
  readonly tickets: Pick<PanelTickets, 'redeem'>
  readonly sessions: Pick<PanelSessions, 'begin'>
}

export function createEnterRoutes(deps: EnterPanelDeps): readonly Route<undefined>[] {
  const byAddress: Handler<undefined> = (call) => {
    checkOwnHost(call)
    // Programs that look at a link before a person follows it must not use it up.
    if (call.method === 'HEAD') return page([])
    return enter(call, call.query, deps)
  }

  /** The form in the file that `clipgate panel` has opened: the ticket says who sends it. */
  const byForm: Handler<undefined> = async (call) => {
    checkOwnHost(call, { isFileWelcome: true })
    const body = Buffer.from(await readBytes(call, MAX_FORM_BYTES)).toString('latin1')
    return enter(call, new URLSearchParams(body), deps)
  }

  return [
    route('GET', '/enter', byAddress),
    route('POST', '/enter', byForm, { maxBody: MAX_FORM_BYTES }),
  ]
}

async function enter(
  call: Pick<Call, 'request'>,
  fields: URLSearchParams,
  { tickets, sessions }: EnterPanelDeps,
): Promise<Reply> {
  // The page there says how to get a good one.
  if (!tickets.redeem(fields.get('ticket') ?? '')) return toPanel()
  return page(['Set-Cookie', formatSessionCookie(call, await sessions.begin())])
}

function page(more: readonly string[]): Reply {
  return { status: 200, headers: [...HEADERS, ...more], body: PAGE }
}

function toPanel(): Reply {
  const headers = ['Location', '/', 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer']
  return { status: 303, headers }
}
