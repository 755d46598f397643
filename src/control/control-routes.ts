/**
 * The endpoint table of the control listener: the port `Admin`, the panel and its page, and what
 * only a running daemon can do. It may change with any version.
 *
 * The preview of the current item is the beginning of a text, or a raster image: nothing that a
 * browser would run, whatever the item says that it is. The bytes themselves, and pushes, go
 * through the endpoints of the protocol, which the owner has as well.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { beginningOf, type Item } from '../core/item.ts'
import { MIB } from '../core/limits.ts'
import { essenceOf } from '../core/media-type.ts'
import type { Owner } from '../core/owner.ts'
import { route, type Call, type Route } from '../http/call.ts'
import { EVENT_STREAM_HEADERS } from '../http/live-streams.ts'
import { HttpError } from '../http/http-error.ts'
import { pageRoutes } from '../http/page-files.ts'
import { json, type BlobBody, type Reply } from '../http/reply.ts'
import type { Admin, Pairing } from '../ports/admin.ts'
import type { Blob, OpenBlob } from '../ports/blob.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { shortPageLink } from '../link/connect-link.ts'
import { blocksOf } from '../lib/read-bytes.ts'
import { startOf } from '../lib/long-text.ts'
import { containsWord, containsWordIn } from '../lib/search-text.ts'
import type { Panel, RecentItem } from '../ports/panel.ts'
import {
  decodeJoinRequest,
  decodePairRequest,
  decodePauseRequest,
  decodeRotateRequest,
  decodeSearchRequest,
} from './admin-wire.ts'
import { checkOwnHost } from './authorize.ts'
import { jsonRoute, readMembers } from './control-json.ts'
import type { PanelToken } from './control-token.ts'
import { withTrail } from './device-admin.ts'
import type { PanelEvents } from './panel-events.ts'
import { previewKind, readPanelState } from './panel-state.ts'

/** The narrowest quiet zone that the package `qr` draws, in modules. */
const BORDER = 1

/** The length of a text preview, in characters. */
const MAX_CHARACTERS = 2000

/** The length of a line in the list of recent items, in characters. */
const MAX_LINE_CHARACTERS = 120

const PREVIEW_HEADERS: readonly string[] = [
  ...['Cache-Control', 'no-store'],
  ...['Content-Security-Policy', "sandbox; default-src 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
]

/**
 * The endpoint that needs no token: whether the daemon lives, and its disk takes what comes, is no
 * secret on its own machine.
 *
 * @param diskTrouble Why it does not. Has to cost little, however often it is called.
 */
export function createHealthRoute(
  diskTrouble: () => Promise<string | undefined>,
): Route<undefined> {
  return route('GET', '/health', async (call) => {
    checkOwnHost(call)
    const disk = await diskTrouble()
    return disk === undefined
      ? json({ status: 'ok' })
      : { ...json({ status: 'failing', disk }), status: 503 }
  })
}

/** Makes a route for each file of the panel's page; `panel.html` stands at `/`. */
export function createPanelFileRoutes(folder?: string): readonly Route<undefined>[] {
  return pageRoutes({
    name: 'panel',
    files: ['panel.js', 'code.js', 'panel.css', 'icon.svg'],
    folder,
    at: '/',
    below: '/',
    policy: ["require-trusted-types-for 'script'"],
    check: checkOwnHost,
  })
}

interface Codes {
  readonly qr: readonly string[]
  readonly pageQr: readonly string[] | undefined
}

/** The parts behind a control listener. */
export interface ControlOptions {
  readonly admin: Admin
  readonly panel: Panel
  /** The token of the commands. */
  readonly token: string
  /** Further routes of the owner, such as those of the clipboard itself. */
  readonly routes?: readonly Route<Owner>[] | undefined
  /** Given by those routes to pages of the panel. */
  readonly pages?: OwnerPages | undefined
  /** Why the disk takes nothing, or no upload. */
  readonly diskTrouble?: (() => Promise<string | undefined>) | undefined
  /** Called when somebody was given the address that opens the panel. */
  readonly onAddressGiven?: (() => void) | undefined
  readonly clock: Clock
  /** Has a line for each device that is paired, rotated or revoked. */
  readonly logger: Logger
}

/** The event streams and tickets of pages; by a ticket the browser saves a file by itself. */
interface OwnerPages {
  /** @throws {HttpError} `NOT_FOUND` when the ticket is no good any more. */
  holderOf(call: Pick<Call, 'method' | 'path'>): Owner | undefined
  /** Ends all of that. */
  signOut(): void
}

interface Pages {
  /** Ends all that pages of the panel may do, and do. */
  signOut(): Promise<void>
}

/** Endpoints of the owner. */
export function createControlRoutes(
  { admin, panel, signOut, onAddressGiven, clock, logger }: ControlOptions & Pages,
  panelToken: PanelToken,
  events: PanelEvents,
): readonly Route<Owner>[] {
  const byCommand = withTrail(admin, logger, 'command')
  const atPanel = withTrail(admin, logger, 'panel')
  const adminOf = ({ at }: Owner): Admin => (at === 'panel' ? atPanel : byCommand)
  const find = (wanted: string) => panel.recent.list.find(({ id }) => id === wanted)
  return [
    jsonRoute('GET', '/status', () => admin.status()),
    jsonRoute('GET', '/devices', () => admin.devices()),
    jsonRoute('POST', '/devices', async (call) => {
      const request = await readMembers(call, decodePairRequest)
      return withCodes(await adminOf(call.principal).pair(request, call.signal))
    }),
    jsonRoute('POST', '/devices/{id}/rotate', async (call) => {
      const { url } = await readMembers(call, decodeRotateRequest)
      return withCodes(await adminOf(call.principal).rotate(call.params.id, url, call.signal))
    }),
    jsonRoute('DELETE', '/devices/{id}', ({ params, principal }) => {
      return adminOf(principal).revoke(params.id)
    }),
    jsonRoute('GET', '/log', async () => panel.happenings.list),
    jsonRoute('GET', '/peers', () => admin.peers()),
    jsonRoute('POST', '/peers', async (call) => {
      return admin.join(await readMembers(call, decodeJoinRequest))
    }),
    jsonRoute('DELETE', '/peers/{name}', ({ params }) => admin.leave(params.name)),
    jsonRoute('GET', '/panel', async ({ host = '' }) => {
      onAddressGiven?.()
      return { url: panelToken.addressAt(host) }
    }),
    jsonRoute('DELETE', '/panel', async () => {
      await signOut()
      return {}
    }),
    jsonRoute('GET', '/state', async () => {
      return { serverTimeMs: clock.now(), ...(await readPanelState(admin, panel)) }
    }),
    route<Owner, '/events'>('GET', '/events', () => ({
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body: { attach: (wire) => events.open(wire) },
    })),
    route('GET', '/item/preview', () => {
      const { item, blob } = panel.item ?? {}
      const reply = previewReply(item, blob, (text) => beginningOf(text, MAX_CHARACTERS))
      return { ...reply, etag: `"${item?.contentId}"` }
    }),
    route('GET', '/item/text', () => textReply(panel.item)),
    jsonRoute('POST', '/received/open', async () => ({ opened: await panel.openReceived() })),
    route('GET', '/recent/{id}', ({ params }) => {
      const recent = find(params.id)
      const lineOf = (text: string) => beginningOf(text.trimStart(), MAX_LINE_CHARACTERS)
      return previewReply(recent, recent?.blob, lineOf)
    }),
    route('GET', '/recent/{id}/text', ({ params }) => {
      const recent = find(params.id)
      if (recent?.type !== 'Text') throw new HttpError('NOT_FOUND')
      return plainReply(openable(recent.blob))
    }),
    jsonRoute('POST', '/recent', async (call) => {
      const word = (await readMembers(call, decodeSearchRequest)).word.toLowerCase()
      return { ids: await idsWith(word, panel.recent.list) }
    }),
    jsonRoute('POST', '/recent/{id}', async ({ params }) => {
      if (!(await panel.recent.activate(params.id))) throw new HttpError('NOT_FOUND')
      return {}
    }),
    jsonRoute('DELETE', '/recent', async () => {
      panel.recent.forget()
      return {}
    }),
    jsonRoute('DELETE', '/recent/{id}', async ({ params }) => {
      if (!panel.recent.forget(params.id)) throw new HttpError('NOT_FOUND')
      return {}
    }),
    jsonRoute('POST', '/pause', async (call) => {
      const { durationMs } = await readMembers(call, decodePauseRequest)
      return panel.pause(durationMs)
    }),
    jsonRoute('DELETE', '/pause', async () => {
      await panel.resume()
      return {}
    }),
    jsonRoute('POST', '/stop', async () => {
      panel.stop()
      return {}
    }),
  ]
}

/** A pairing with the codes of its link and, where there is one, of the short way to its page. */
async function withCodes(pairing: Pairing): Promise<Pairing & Codes> {
  const { link, page, url, username, password } = pairing
  const pageQr =
    page === undefined ? undefined : await qrRows(shortPageLink(url, username, password))
  return { ...pairing, qr: await qrRows(link), pageQr }
}

/** The modules of the code of `text`, without quiet zone: rows of `0` (light) and `1` (dark). */
async function qrRows(text: string): Promise<readonly string[]> {
  // Few daemons are asked for a code; the others should not wait for this package.
  const { encodeQR } = await import('qr')
  // As the terminal shows it: screens need little error correction, and cameras large modules.
  const modules = encodeQR(text, 'raw', { ecc: 'low', border: BORDER }).slice(BORDER, -BORDER)
  return modules.map((row) => Array.from(row.slice(BORDER, -BORDER), Number).join(''))
}

/** The beginning of a text, or a picture. */
function previewReply(
  item: Pick<Item, 'type' | 'size' | 'mediaType' | 'text'> | undefined,
  blob: Blob | undefined,
  beginning: (text: string) => string,
): Reply {
  const kind = item && previewKind(item, blob)
  if (kind === undefined || item === undefined) throw new HttpError('NOT_FOUND')
  if (kind === 'text' || blob === undefined) return plainReply(beginning(startOf(item)))
  const headers = ['Content-Type', essenceOf(item.mediaType), ...PREVIEW_HEADERS]
  return { status: 200, headers, body: openable(blob) }
}

/** The ids of those with a word in their text or name. */
async function idsWith(word: string, items: readonly RecentItem[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const item of items) {
    try {
      if (await hasWord(item, word)) ids.push(item.id)
    } catch (error) {
      // It was forgotten meanwhile.
      if (!isGone(error)) throw error
    }
  }
  return ids
}

async function hasWord({ type, text, dataName, blob }: RecentItem, word: string): Promise<boolean> {
  if (await containsWord(dataName, word)) return true
  // That of a Text is its beginning.
  if (type !== 'Text') return containsWord(text, word)
  return containsWordIn(readText(blob), word)
}

async function* readText(blob: Blob): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const block of blocksOf(blob, { blockSize: MIB })) {
    yield decoder.decode(block, { stream: true })
  }
}

function textReply(stored: StoredItem | undefined): Reply {
  if (stored?.item.type !== 'Text') throw new HttpError('NOT_FOUND')
  return { ...plainReply(stored.item.text), etag: `"${stored.item.contentId}"` }
}

function plainReply(body: string | BlobBody): Reply {
  const headers = ['Content-Type', 'text/plain; charset=utf-8', ...PREVIEW_HEADERS]
  return { status: 200, headers, body }
}

function isGone(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'BLOB_GONE'
}

/** The blob, which answers 404 when the copied file behind it is gone. */
function openable(blob: Blob): Pick<Blob, 'size' | 'open'> {
  const open = async (): Promise<OpenBlob> => {
    try {
      return await blob.open()
    } catch (cause) {
      throw isGone(cause) ? new HttpError('NOT_FOUND', { cause }) : cause
    }
  }
  return { size: blob.size, open }
}
