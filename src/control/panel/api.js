// @ts-check
/**
 * What the page asks of the daemon. The session is in a cookie that no script can read.
 *
 * @module
 */

import { strings } from './strings.js'

/** @import { Pairing } from './state.js' */

/** The daemon said no, with its reason as the message; or it did not answer. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status 0 when there was no answer.
   */
  constructor(message, status) {
    super(message)
    this.name = 'ApiError'
    this.status = status
  }
}

/**
 * @param {{ label: string, url: string | undefined }} wanted Without a label it gets one.
 * @returns {Promise<Pairing>}
 */
export async function addDevice({ label, url }) {
  const body = { kind: 'phone', label: label === '' ? null : label, username: null, password: null }
  return call('POST', '/devices', { ...body, url: url ?? null })
}

/**
 * @param {string} id
 * @param {string | undefined} url
 * @returns {Promise<Pairing>}
 */
export async function rotateDevice(id, url) {
  return call('POST', `/devices/${encodeURIComponent(id)}/rotate`, url === undefined ? {} : { url })
}

/** @param {string} id */
export async function revokeDevice(id) {
  await call('DELETE', `/devices/${encodeURIComponent(id)}`)
}

/** @param {number | null} durationMs `null`: until somebody resumes. */
export async function pauseSharing(durationMs) {
  await call('POST', '/pause', { durationMs })
}

export async function resumeSharing() {
  await call('DELETE', '/pause')
}

/** Ends the sessions of all browsers, this one's included. */
export async function endSessions() {
  await call('DELETE', '/session')
}

/**
 * The beginning of the current text; `undefined` when it has none to show (any more).
 *
 * @param {string} contentId
 */
export async function readPreview(contentId) {
  const response = await ask(previewPath(contentId), {})
  // What is current may have changed on the way, and may be the same again by now.
  const isSame = response.headers.get('ETag') === `"${contentId}"`
  return response.ok && isSame ? response.text() : undefined
}

/** @param {string} contentId Makes another address of each item, so that no other one is shown. */
export function previewPath(contentId) {
  return `/item/preview?id=${encodeURIComponent(contentId)}`
}

/**
 * Why the event stream does not open.
 *
 * @returns {Promise<'signed-out' | 'away' | 'up'>}
 */
export async function probe() {
  try {
    const { status, ok } = await ask('/state', {})
    if (status === 401) return 'signed-out'
    return ok ? 'up' : 'away'
  } catch (error) {
    if (error instanceof ApiError) return 'away'
    throw error
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function call(method, path, body) {
  const json = { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
  const response = await ask(path, { method, ...(body === undefined ? {} : json) })
  const answer = await response.json().catch(() => {
    throw new ApiError(strings.errors.unexpected(response.status), response.status)
  })
  if (response.ok) return answer
  const reason = answer?.detail ?? answer?.title ?? strings.errors.unexpected(response.status)
  throw new ApiError(response.status === 401 ? strings.errors.signedOut : reason, response.status)
}

/**
 * @param {string} path
 * @param {RequestInit} init
 */
async function ask(path, init) {
  try {
    return await fetch(path, { ...init, cache: 'no-store', credentials: 'same-origin' })
  } catch {
    // Browsers say nothing of use about why.
    throw new ApiError(strings.errors.away, 0)
  }
}
