/**
 * The endpoints of the panel and of what only a running daemon can do; the table is in
 * docs/commands.md.
 *
 * The preview of the current item is the beginning of a text, or a raster image: nothing that a
 * browser would run, whatever the item says that it is.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { MAX_PAUSE_MS } from '../core/limits.ts'
import { route, type Route } from '../http/call.ts'
import { EVENT_STREAM_HEADERS } from '../http/event-stream.ts'
import { HttpError } from '../http/http-error.ts'
import type { Reply } from '../http/reply.ts'
import { decodeNumber, matching, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import type { Admin } from '../ports/admin.ts'
import type { Blob, OpenBlob } from '../ports/blob.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Panel } from '../ports/panel.ts'
import type { Owner } from './authorize.ts'
import { jsonRoute, readMembers } from './control-json.ts'
import type { PanelToken } from './control-token.ts'
import type { PanelEvents } from './panel-events.ts'
import { essenceOf, previewKind, readPanelState } from './panel-state.ts'

/** The parts behind the routes of the panel. */
export interface PanelRoutesDeps {
  readonly admin: Admin
  readonly panel: Panel
  readonly panelToken: PanelToken
  readonly onAddressGiven: (() => void) | undefined
  readonly events: PanelEvents
  readonly now: () => number
}

/** The length of a text preview, in characters. */
const MAX_CHARACTERS = 2000

const PREVIEW_HEADERS: readonly string[] = [
  ...['Cache-Control', 'no-store'],
  ...['Content-Security-Policy', "sandbox; default-src 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
]

const isDuration = (value: number): boolean =>
  Number.isInteger(value) && value >= 1 && value <= MAX_PAUSE_MS

const decodePauseRequest: Decoder<{ readonly durationMs: number | undefined }> = objectOf({
  durationMs: optional(matching(decodeNumber, isDuration, `from 1 to ${MAX_PAUSE_MS}`)),
})

/** Endpoints of the panel. */
export function createPanelRoutes(deps: PanelRoutesDeps): readonly Route<Owner>[] {
  const { admin, panel, panelToken, onAddressGiven, events, now } = deps
  return [
    jsonRoute('GET', '/panel', async ({ host = '' }) => {
      onAddressGiven?.()
      return { url: panelToken.addressAt(host) }
    }),
    jsonRoute('DELETE', '/panel', async () => {
      panelToken.renew()
      events.endAll()
      return {}
    }),
    jsonRoute('GET', '/state', async () => {
      return { serverTimeMs: now(), ...(await readPanelState(admin, panel)) }
    }),
    route<Owner, '/events'>('GET', '/events', () => ({
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body: { attach: (wire) => events.open(wire) },
    })),
    route('GET', '/item/preview', () => previewReply(panel.item)),
    jsonRoute('POST', '/pause', async (call) => {
      const { durationMs } = await readMembers(call, decodePauseRequest)
      return panel.pause(durationMs)
    }),
    jsonRoute('DELETE', '/pause', async () => {
      await panel.resume()
      return {}
    }),
  ]
}

function previewReply(stored: StoredItem | undefined): Reply {
  const kind = stored === undefined ? undefined : previewKind(stored)
  if (stored === undefined || kind === undefined) throw new HttpError('NOT_FOUND')
  const { item, blob } = stored
  const isText = kind === 'text' || blob === undefined
  const contentType = isText ? 'text/plain; charset=utf-8' : essenceOf(item.mediaType)
  return {
    status: 200,
    headers: ['Content-Type', contentType, ...PREVIEW_HEADERS],
    body: isText ? beginningOf(item.text) : openable(blob),
    etag: `"${item.contentId}"`,
  }
}

/** Characters are what people count, not halves of them. */
function beginningOf(text: string): string {
  return [...text.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join('')
}

/** The blob, which answers 404 when the copied file behind it is gone. */
function openable(blob: Blob): Pick<Blob, 'size' | 'open'> {
  const open = async (): Promise<OpenBlob> => {
    try {
      return await blob.open()
    } catch (cause) {
      const isGone = cause instanceof DomainError && cause.code === 'BLOB_GONE'
      throw isGone ? new HttpError('NOT_FOUND', { cause }) : cause
    }
  }
  return { size: blob.size, open }
}
