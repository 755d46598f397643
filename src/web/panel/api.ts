/**
 * The requests of the page to the daemon, in the name of its tab.
 *
 * The token with which the tab is signed in comes in the fragment of the address, which no server
 * is sent, and the tab keeps it; it is good for as long as the daemon that made it runs.
 * @module
 */

import { ClientError } from '../../client/client-error.ts'
import { keepAliveClock, within } from '../../lib/clock.ts'
import { FileUpload, type FileUploadOptions } from '../shared/file-upload.ts'
import type { Member } from '../shared/members.ts'
import { pushLastingly } from '../shared/push-lastingly.ts'
import { ask as askDoor, parseAnswer, readPushed, send, type Door } from '../shared/request.ts'
import { KeptWord } from '../shared/storage.ts'
import type { Pairing, PanelState } from './state.ts'
import { strings } from './strings.ts'

/** A daemon that hangs, or is behind a tunnel that does, takes connections and says nothing. */
const PATIENCE_MS = 20_000

const FRAGMENT = /^#([\w-]{43})$/

const kept = new KeptWord(() => sessionStorage, 'clipgate.token')

/** The token with which this tab is signed in. @throws {ClientError} `UNAUTHORIZED` */
export function tokenOfTab(): string {
  const token = kept.get()
  if (token === null) throw new ClientError('UNAUTHORIZED')
  return token
}

function authorization(): string {
  return `Bearer ${tokenOfTab()}`
}

/** The control listener. */
const DAEMON: Door = { base: location.origin, authorization }

/** The protocol there, for the owner. */
const CLIPBOARD: Door = { base: `${location.origin}/clipboard`, authorization }

/** The daemon said no, with its reason as the message; or it did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  /** @param status 0 when there was no answer. */
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** @param wanted Without a label it gets one. */
export async function addDevice({
  label,
  url,
}: {
  label: string
  url: string | undefined
}): Promise<Pairing> {
  return call('POST', '/devices', { kind: 'phone', label: label || null, url: url ?? null })
}

/** Gives a device a new password. */
export async function rotateDevice(id: string, url: string | undefined): Promise<Pairing> {
  return call('POST', `/devices/${encodeURIComponent(id)}/rotate`, url === undefined ? {} : { url })
}

/** Removes a device. */
export async function revokeDevice(id: string) {
  await call('DELETE', `/devices/${encodeURIComponent(id)}`)
}

/** @param durationMs `null`: until somebody resumes. */
export async function pauseSharing(durationMs: number | null) {
  await call('POST', '/pause', { durationMs })
}

/** Ends the pause. */
export async function resumeSharing() {
  await call('DELETE', '/pause')
}

/** The whole of the current text; `undefined` when something else is current by now. */
export async function readText(contentId: string) {
  return (await askForItem('/item/text', contentId))?.text().catch(away)
}

/**
 * A way to the bytes of an item that a browser can take by itself, for ten minutes.
 *
 * @param recent The id of a recent item, in place of the current one.
 */
export async function readTicket(recent?: string) {
  const query = recent === undefined ? '' : `?recent=${encodeURIComponent(recent)}`
  const { path, contentId, members = [] } = await call('POST', `/clipboard/tickets${query}`)
  // A program that took the place of the daemon could lead the page elsewhere.
  if (typeof path !== 'string' || !path.startsWith('/clipboard/tickets/')) return away()
  const files: readonly Member[] = members
  return { path, contentId: String(contentId), members: files }
}

/** Makes a text the current item. */
export async function pushText(text: string) {
  await told(pushDocument({ type: 'Text', text, dataName: '', hasData: false }))
}

/** Makes a file the current item, however long that takes: it goes on after a break. */
export async function pushFile(
  file: File,
  how: Pick<FileUploadOptions, 'signal' | 'onProgress'>,
): Promise<void> {
  await told(pushAll(file, how))
}

async function pushAll(file: File, how: Pick<FileUploadOptions, 'signal' | 'onProgress'>) {
  await new FileUpload(file, { ...how, door: CLIPBOARD }).run()
  const { name, size } = file
  const document = { type: 'File', text: name, dataName: name, hasData: true, size }
  await pushLastingly(
    (signal) => pushDocument(document, signal),
    how.signal,
    (now) => {
      const state = now === 'storing' ? 'sending' : now
      how.onProgress({ state, sent: size, speed: 0, isAnew: false })
    },
  )
}

async function pushDocument(document: object, signal: AbortSignal | null = null) {
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify(document)
  const init = { method: 'PUT', body, headers, signal }
  await readPushed(await askDoor(CLIPBOARD, '/Sync.json', init))
}

/** @throws {ApiError} Why something was not pushed, in the words of this page. */
async function told(pushing: Promise<void>): Promise<void> {
  try {
    await pushing
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    const { code, status = 0 } = error
    if (code === 'UNAUTHORIZED' || code === 'UNREACHABLE') failed(error)
    const words = strings.errors
    const reason = code === 'SOURCE_UNREADABLE' ? words.unreadable : words.notPushed(status)
    throw new ApiError(reason, status)
  }
}

/** The event stream, each of whose events is a state. */
export function openEvents(signal: AbortSignal): Promise<Response> {
  return askForState('/events', { signal })
}

/** Reads the state of the daemon. */
export async function readState(signal: AbortSignal): Promise<PanelState> {
  return parseState(await readStateText(signal))
}

/** The same, as JSON. */
export async function readStateText(signal: AbortSignal): Promise<string> {
  const reading = askForState('/state', { signal }).then((answer) => answer.text().catch(away))
  return (await within(keepAliveClock, PATIENCE_MS, reading, undefined)) ?? away()
}

async function askForState(path: string, init: RequestInit): Promise<Response> {
  const response = await ask(path, init)
  const { ok, status } = response
  if (!ok) throw new ApiError(strings.errors.unexpected(status), status)
  return response
}

/** Reads a state. The daemon that serves this page made it, so only its outline is checked. */
export function parseState(text: string): PanelState {
  try {
    return parseAnswer(text, ({ devices, status }) =>
      [devices, status.listeners].every(Array.isArray),
    )
  } catch (error) {
    return failed(error)
  }
}

/** The beginning of a recent text, or a picture; `undefined` when it is forgotten. */
export async function readRecent(id: string) {
  const response = await ask(`/recent/${encodeURIComponent(id)}`)
  return response.ok ? response.blob().catch(away) : undefined
}

/** The whole of a recent text; `undefined` when it is forgotten. */
export async function readRecentText(id: string) {
  const response = await ask(`/recent/${encodeURIComponent(id)}/text`)
  return response.ok ? response.text().catch(away) : undefined
}

/** The ids of the recent items with a word in their text or name. */
export async function findRecent(word: string): Promise<readonly string[]> {
  return (await call('POST', '/recent', { word })).ids
}

/** Makes a recent item current again. */
export async function activateRecent(id: string) {
  await call('POST', `/recent/${encodeURIComponent(id)}`)
}

/** Forgets a recent item, or all of them. */
export async function forgetRecent(id?: string) {
  await call('DELETE', id === undefined ? '/recent' : `/recent/${encodeURIComponent(id)}`)
}

/** Shows the folder of received files on the desktop. @returns Whether a program could. */
export async function openReceived() {
  const { opened } = await call('POST', '/received/open')
  return opened === true
}

/** Signs out all pages of the panel, this one included. */
export async function signOutAll() {
  await call('DELETE', '/panel')
}

/** The part of the current item that may be shown; `undefined` when there is none (any more). */
export async function readPreview(contentId: string) {
  return (await askForItem('/item/preview', contentId))?.blob().catch(away)
}

async function askForItem(path: string, contentId: string): Promise<Response | undefined> {
  const response = await ask(path)
  // The current item may have changed on the way, and may be the same again by now.
  const isSame = response.headers.get('ETag') === `"${contentId}"`
  return response.ok && isSame ? response : undefined
}

async function call(method: string, path: string, body?: unknown) {
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
 * Asks the daemon in the name of this tab, and nobody without a name.
 *
 * @throws {ApiError} when there is no answer.
 */
async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return send(DAEMON, path, init).catch(failed)
}

/** @throws {ApiError} The same failure, in the words of this page. */
function failed(error: unknown): never {
  if (!(error instanceof ClientError)) throw error
  throw error.code === 'UNAUTHORIZED' ? new ApiError(strings.errors.signedOut, 401) : away()
}

/** Nobody answers, or another program than our daemon does. */
function away(): never {
  throw new ApiError(strings.errors.away, 0)
}

/** Takes the token out of the address, where it would be seen and kept. */
export function takeToken() {
  const { hash, pathname } = location
  history.replaceState(null, '', pathname)
  const token = FRAGMENT.exec(hash)?.[1]
  if (token !== undefined) kept.set(token)
}

/** Signs this tab out. */
export function forgetToken() {
  kept.set(null)
}
