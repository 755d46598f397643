/** Asks the daemon by the public protocol, in the name of this phone. @module */

import { ClientError } from '../../client/client-error.ts'
import type { ClipboardDocument } from '../../client/decode-document.ts'
import { basicAuthorization } from '../../link/base64url.ts'
import type { Member } from '../shared/members.ts'
import {
  ask,
  ELSEWHERE,
  parseAnswer,
  readPushed,
  request,
  unreachable,
  type Door,
  type Parsed,
} from '../shared/request.ts'
import { base, stored } from './account.ts'

/** Who says nothing for so long is not there. Files are another matter: `file-upload.ts`. */
const PATIENCE_MS = 8_000

/** More than any document or picture that is read whole: nobody here sends that. */
const MAX_BYTES = 64 * 1024 * 1024

/** A text may be long, and `fetch` does not tell how far it is. */
const SLOWEST_BYTES_PER_MS = 16

type Init = RequestInit & { body?: string }

/** The daemon, and this phone. */
export const DOOR: Door = {
  base,
  async authorization(signal) {
    if (isDoubtful) await assertSame(signal)
    const account = stored()
    if (account === undefined) throw new ClientError('UNAUTHORIZED')
    return basicAuthorization(account.user, account.password)
  },
  assertSame,
}

/** Whether another daemon was found there, which gets neither credentials nor files again. */
let isDoubtful = false

async function assertSame(signal: AbortSignal | null = null) {
  const { id } = stored() ?? {}
  if (id === undefined) return
  const half = id.length / 2
  const answer = await request(`${base}/phone/trust/${id.slice(0, half)}`, { signal })
  isDoubtful = (await answer.text().catch(unreachable)) !== id.slice(half)
  if (isDoubtful) throw new ClientError('UNREACHABLE', { reason: ELSEWHERE })
}

/**
 * Sends a request and reads the answer, unless nothing comes for too long.
 *
 * @throws {ClientError}
 */
export async function exchange(path: string, init: Init = {}) {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (ms = PATIENCE_MS) => {
    clearTimeout(timer)
    timer = setTimeout(() => abort.abort(), ms)
  }
  const { signal } = init
  const stop = () => abort.abort()
  signal?.addEventListener('abort', stop)
  try {
    wait(PATIENCE_MS + (init.body?.length ?? 0) / SLOWEST_BYTES_PER_MS)
    const { body, headers } = await ask(DOOR, path, { ...init, signal: abort.signal })
    const chunks = []
    let size = 0
    for (const reader = body?.getReader(); ; ) {
      wait()
      const { value } = (await reader?.read()) ?? {}
      if (value === undefined) return new Blob(chunks, { type: headers.get('Content-Type') ?? '' })
      size += value.length
      if (size > MAX_BYTES) unreachable()
      chunks.push(value)
    }
  } catch (error) {
    throw error instanceof ClientError ? error : new ClientError('UNREACHABLE')
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** As {@link exchange}. */
async function readJson(path: string, isOurs: (value: Parsed) => boolean, init: Init = {}) {
  return parseAnswer(await (await exchange(path, init)).text(), isOurs)
}

const isString = (value: unknown) => typeof value === 'string'

/** The facts besides the item. Names are empty where nobody knows them. */
export interface State {
  /** That of the computer. */
  readonly id?: string
  readonly name?: string
  readonly paused: boolean
  /** Where the page is served with HTTPS, if it is. */
  readonly https?: { readonly urls: readonly string[]; readonly needsTrust: boolean }
  readonly item?: Sent
  /** The newest first. */
  readonly recent: readonly Recent[]
}

/** Who made an item current, and when: in Unix milliseconds. */
export interface Sent {
  readonly from?: string
  readonly activatedAt: number
}

/** An item that was current before. */
export interface Recent extends Sent, Pick<ClipboardDocument, 'type' | 'dataName' | 'size'> {
  readonly id: string
  /** The beginning of a text. */
  readonly line?: string
}

/** Reads the state. */
export function readState(signal: AbortSignal): Promise<State> {
  const isState = ({ id = '', recent }: Parsed) =>
    [{ id }, ...recent].every((one: Parsed) => isString(one.id))
  return readJson('/phone/state', isState, { signal })
}

/** The whole of a recent text. */
export async function readRecent(id: string): Promise<string> {
  return (await exchange(`/phone/recent/${id}`)).text()
}

/** The current item; `undefined` when there is none. */
export async function readItem(signal: AbortSignal): Promise<ClipboardDocument | undefined> {
  const isItem = ({ hash, text }: Parsed) => isString(hash) && isString(text)
  const item = await readJson('/Sync.json', isItem, { signal })
  return item.hash === '' ? undefined : item
}

/** A way to the bytes of an item that a browser can take by itself, for ten minutes. */
interface Ticket {
  readonly href: string
  readonly mediaType: string
  /** That of the item. */
  readonly contentId: string
  /** The files of a Group: `?member=1` behind `href` leads to the first. */
  readonly members?: readonly Member[]
}

/**
 * Reads a ticket.
 *
 * @param of The query for a recent item; the current one without it.
 */
export async function readTicket(of = ''): Promise<Ticket> {
  const { path, ...ticket } = await readJson(
    `/phone/tickets${of}`,
    ({ path, mediaType, contentId }) => [path, mediaType, contentId].every(isString),
    { method: 'POST' },
  )
  return { ...ticket, href: base + path }
}

/**
 * Makes a document the current item.
 *
 * @param signal Whoever gives one decides how long that may take.
 */
export async function pushDocument(document: object, signal?: AbortSignal) {
  const body = JSON.stringify(document)
  const init = { method: 'PUT', body, headers: { 'Content-Type': 'application/json' } }
  const answer = await (signal === undefined
    ? exchange('/Sync.json', init)
    : ask(DOOR, '/Sync.json', { ...init, signal }))
  return readPushed(answer)
}
