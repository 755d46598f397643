// @ts-check
/**
 * Asks the daemon by the public protocol, in the name of this phone.
 * @module
 */

import { base, basic, stored } from './account.js'

/** @import { Failure } from './strings.js' */

/** @typedef {'Text' | 'Image' | 'File' | 'Group'} ItemType */

/**
 * The current item.
 *
 * @typedef {object} Item
 * @property {ItemType} type
 * @property {string} text
 * @property {boolean} hasData
 * @property {number} size In bytes.
 * @property {string} dataName
 */

/** A request failed; `code` is the name of its words. */
export class ApiError extends Error {
  /**
   * @param {Failure} code
   * @param {boolean} mayPass Whether the same request may succeed later.
   */
  constructor(code, mayPass = code === 'away') {
    super(code)
    this.name = 'ApiError'
    this.code = code
    this.mayPass = mayPass
  }
}

/** By status; `away` is that of whoever stands between. */
const FAILURES = new Map(
  /** @type {[number, Failure][]} */ ([
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
  ]),
)

const PASSING = [0, 408, 409, 425, 429]

/**
 * The failure that a status means. Which ones may pass is the rule of `client/client-error.ts`:
 * what stands between has numbers of its own from 500 on.
 */
export function failureOf(/** @type {number} */ status) {
  const isElsewhere = status === 0 || status > 500
  const mayPass = status >= 500 ? status !== 507 : PASSING.includes(status)
  return new ApiError(FAILURES.get(status) ?? (isElsewhere ? 'away' : 'unexpected'), mayPass)
}

/**
 * Sends a request. No dialog of the browser asks for a password, whatever is answered.
 *
 * @param {string} path
 * @param {RequestInit} [init]
 * @throws {ApiError}
 */
export async function ask(path, init = {}) {
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

/** @returns {Readonly<Record<string, string>>} */
export function authorization() {
  const account = stored()
  if (account === undefined) throw new ApiError('refused')
  return { Authorization: basic(account) }
}

/**
 * The current item; `undefined` when there is none.
 *
 * @returns {Promise<Item | undefined>}
 */
export async function readItem() {
  const response = await ask('/Sync.json')
  const item = await response.json().catch(() => {
    throw new ApiError('away')
  })
  return item.hash === '' ? undefined : item
}

/**
 * A way to the bytes of the current item that a browser can take by itself, for ten minutes.
 *
 * @returns {Promise<{ href: string, mediaType: string }>}
 */
export async function readTicket() {
  const { path, mediaType } = await (await ask('/phone/tickets', { method: 'POST' })).json()
  return { href: base + path, mediaType }
}

/**
 * Makes a document the current item.
 *
 * @param {object} document
 * @param {AbortSignal} [signal]
 */
export async function pushDocument(document, signal) {
  const body = JSON.stringify(document)
  const headers = { 'Content-Type': 'application/json' }
  await ask('/Sync.json', { method: 'PUT', body, headers, signal: signal ?? null })
}
