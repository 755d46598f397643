/**
 * The endpoints of the panel and of what only a running daemon can do; the table is in
 * docs/commands.md.
 *
 * @module
 */

import { MAX_PAUSE_MS } from '../core/limits.ts'
import { route, type Route } from '../http/call.ts'
import { EVENT_STREAM_HEADERS } from '../http/event-stream.ts'
import { decodeNumber, matching, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import type { Admin } from '../ports/admin.ts'
import type { Panel } from '../ports/panel.ts'
import { answer, MAX_REQUEST_BYTES, readMembers } from './answer.ts'
import type { Owner } from './authorize.ts'
import { previewReply } from './item-preview.ts'
import type { PanelEvents } from './panel-events.ts'
import { readPanelState } from './panel-state.ts'
import type { PanelToken } from './panel-token.ts'

export interface PanelRoutesDeps {
  readonly admin: Admin
  readonly panel: Panel
  readonly panelToken: PanelToken
  readonly onAddressGiven: (() => void) | undefined
  readonly events: PanelEvents
  readonly now: () => number
}

const isDuration = (value: number): boolean =>
  Number.isInteger(value) && value >= 1 && value <= MAX_PAUSE_MS

const decodePauseRequest: Decoder<{ readonly durationMs: number | undefined }> = objectOf({
  durationMs: optional(matching(decodeNumber, isDuration, `from 1 to ${MAX_PAUSE_MS}`)),
})

export function createPanelRoutes(deps: PanelRoutesDeps): readonly Route<Owner>[] {
  const { admin, panel, panelToken, onAddressGiven, events, now } = deps
  const take = { maxBody: MAX_REQUEST_BYTES }

  return [
    route(
      'GET',
      '/panel',
      answer(async ({ host = '' }) => {
        onAddressGiven?.()
        return { url: panelToken.addressAt(host) }
      }),
    ),
    route(
      'DELETE',
      '/panel',
      answer(async () => {
        panelToken.renew()
        events.endAll()
        return {}
      }),
    ),
    route(
      'GET',
      '/state',
      answer(async () => ({ serverTimeMs: now(), ...(await readPanelState(admin, panel)) })),
    ),
    route<Owner, '/events'>('GET', '/events', () => ({
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body: { attach: (wire) => events.open(wire) },
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
