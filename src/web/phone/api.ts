/**
 * Asks the daemon by the public protocol, in the name of this phone.
 * @module
 */

import { base, basic, stored } from './account.ts'
import type { Failure } from './strings.ts'

export type ItemType = 'Text' | 'Image' | 'File' | 'Group'

/** The current item. */
export interface Item {
  readonly type: ItemType
  readonly text: string
  readonly hasData: boolean
  /** In bytes. */
  readonly size: number
  readonly dataName: string
}

/** A request failed; `code` is the name of its words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: Failure
  readonly mayPass: boolean

  /** @param mayPass Whether the same request may succeed later. */
  constructor(code: Failure, mayPass: boolean = code === 'away') {
    super(code)
    this.code = code
    this.mayPass = mayPass
  }
}

/** Who says nothing for so long is not there. Files are another matter: `file-upload.ts`. */
const PATIENCE_MS = 8_000

/** A text may be long, and `fetch` does not tell how far it is. */
const SLOWEST_BYTES_PER_MS = 16

/** By status; `away` is that of whoever stands between. */
const FAILURES = new Map([
  [401, 'refused'],
  [404, 'gone'],
  [408, 'away'],
  [409, 'away'],
  [410, 'gone'],
  [413, 'tooLarge'],
  [425, 'busy'],
  [429, 'busy'],
  [500, 'unexpected'],
  [503, 'busy'],
  [507, 'full'],
] as [number, Failure][])

const PASSING = [0, 408, 409, 425, 429]

/**
 * The failure that a status means. Which ones may pass is the rule of `client/client-error.ts`:
 * what stands between has numbers of its own from 500 on.
 */
export function failureOf(status: number) {
  const isElsewhere = status === 0 || status > 500
  const mayPass = status >= 500 ? status !== 507 : PASSING.includes(status)
  return new ApiError(FAILURES.get(status) ?? (isElsewhere ? 'away' : 'unexpected'), mayPass)
}

/**
 * Sends a request, and waits for as long as its signal lets it. No dialog of the browser asks for a
 * password, whatever is answered.
 *
 * @throws {ApiError}
 */
export async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(base + path, {
    ...init,
    headers: { ...init.headers, ...authorization() },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  }).catch(() => {
    // Browsers say nothing of use about why it failed.
    throw new ApiError('away')
  })
  if (response.ok) return response
  throw failureOf(response.status)
}

/**
 * Sends a request and reads the answer, unless nothing comes for too long.
 *
 * @throws {ApiError}
 */
export async function exchange(path: string, init: RequestInit & { body?: string } = {}) {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (ms = PATIENCE_MS) => {
    clearTimeout(timer)
    timer = setTimeout(() => abort.abort(), ms)
  }
  try {
    wait(PATIENCE_MS + (init.body?.length ?? 0) / SLOWEST_BYTES_PER_MS)
    const { body, headers } = await ask(path, { ...init, signal: abort.signal })
    const chunks = []
    for (const reader = body?.getReader(); ; ) {
      wait()
      const { value } = (await reader?.read()) ?? {}
      if (value === undefined) return new Blob(chunks, { type: headers.get('Content-Type') ?? '' })
      chunks.push(value)
    }
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError('away')
  } finally {
    clearTimeout(timer)
  }
}

/** As {@link exchange}. What is no JSON comes from somebody else, such as a hotel. */
async function readJson(path: string, method = 'GET') {
  return parseAnswer(await (await exchange(path, { method })).text())
}

function parseAnswer(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('away')
  }
}

export function authorization(): Readonly<Record<string, string>> {
  const account = stored()
  if (account === undefined) throw new ApiError('refused')
  return { Authorization: basic(account) }
}

/** The current item; `undefined` when there is none. */
export async function readItem(): Promise<Item | undefined> {
  const item = await readJson('/Sync.json')
  return item.hash === '' ? undefined : item
}

/** A way to the bytes of the current item that a browser can take by itself, for ten minutes. */
export async function readTicket(): Promise<{ href: string; mediaType: string }> {
  const { path, mediaType } = await readJson('/phone/tickets', 'POST')
  return { href: base + path, mediaType }
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
    : ask('/Sync.json', { ...init, signal }))
  return parseAnswer(await answer.text().catch(() => ''))
}
