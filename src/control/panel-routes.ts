/**
 * The endpoints of the panel and of what only a running daemon can do; the table is in
 * docs/commands.md.
 *
 * @module
 */

import { MAX_PAUSE_MS } from '../core/limits.ts'
import { route, type Call, type Route } from '../http/call.ts'
import { EVENT_STREAM_HEADERS } from '../http/event-stream.ts'
import { HttpError } from '../http/http-error.ts'
import { decodeNumber, matching, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import type { Admin } from '../ports/admin.ts'
import type { Panel } from '../ports/panel.ts'
import { answer, MAX_REQUEST_BYTES, readMembers } from './answer.ts'
import type { Owner } from './authorize.ts'
import { createEnterRoutes } from './enter-panel.ts'
import { previewReply } from './item-preview.ts'
import type { PanelEvents } from './panel-events.ts'
import { createPanelFileRoutes } from './panel-files.ts'
import type { PanelSessions } from './panel-sessions.ts'
import { readPanelState } from './panel-state.ts'
import type { PanelTickets } from './panel-tickets.ts'
import { formatNoCookie } from './session-cookie.ts'

export interface PanelRoutesDeps {
  readonly admin: Admin
  readonly panel: Panel
  readonly tickets: PanelTickets
  readonly sessions: PanelSessions
  readonly events: PanelEvents
  readonly now: () => number
}

const isDuration = (value: number): boolean =>
  Number.isInteger(value) && value >= 1 && value <= MAX_PAUSE_MS

const decodePauseRequest: Decoder<{ readonly durationMs: number | undefined }> = objectOf({
  durationMs: optional(matching(decodeNumber, isDuration, `from 1 to ${MAX_PAUSE_MS}`)),
})

/** For browsers that nobody has let in yet. */
export function createPublicPanelRoutes(
  deps: Pick<PanelRoutesDeps, 'tickets' | 'sessions'>,
): readonly Route<undefined>[] {
  return [...createEnterRoutes(deps), ...createPanelFileRoutes()]
}

export function createPanelRoutes(deps: PanelRoutesDeps): readonly Route<Owner>[] {
  const { admin, panel, tickets, sessions, events, now } = deps
  const take = { maxBody: MAX_REQUEST_BYTES }

  /** A page that could make tickets could make sessions that outlive its own. */
  const makeTicket = async ({ principal, host = '' }: Call<Owner>): Promise<{ url: string }> => {
    if (principal.by !== 'token') throw new HttpError('UNAUTHORIZED')
    return { url: `http://${host}/enter?ticket=${tickets.issue()}` }
  }

  const endSessions = answer(async () => {
    events.endSessions()
    await sessions.endAll()
    return {}
  })

  return [
    route('POST', '/panel/tickets', answer(makeTicket), take),
    route<Owner, '/session'>('DELETE', '/session', async (call) => {
      const { headers = [], ...reply } = await endSessions(call)
      return { ...reply, headers: [...headers, 'Set-Cookie', formatNoCookie(call)] }
    }),
    route(
      'GET',
      '/state',
      answer(async () => ({ serverTimeMs: now(), ...(await readPanelState(admin, panel)) })),
    ),
    route<Owner, '/events'>('GET', '/events', ({ principal }) => ({
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body: { attach: (wire) => events.open(principal, wire) },
    })),
    route('GET', '/item/preview', () => previewReply(panel.item)),
    route(
      'POST',
      '/pause',
      answer(async (call) => {
        const { durationMs } = await readMembers(call, decodePauseRequest)
        return panel.pause(durationMs)
      }),
      take,
    ),
    route(
      'DELETE',
      '/pause',
      answer(async () => {
        await panel.resume()
        return {}
      }),
    ),
  ]
}
