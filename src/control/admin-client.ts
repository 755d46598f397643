/**
 * The client of the control listener of a running daemon. Its methods throw
 * `ControlUnreachableError`, or what `explain` makes of it, when there is no answer; else a
 * `DomainError` or an `Error` that says what the daemon says went wrong.
 * @module
 */

import type { FetchedResponse } from '../client/server.ts'
import { DomainError, type DomainErrorCode } from '../core/domain-error.ts'
import { MIB } from '../core/limits.ts'
import { createNodeFetch, type NodeFetch } from '../fetch/node-fetch.ts'
import { decodeString, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { codeOf } from '../lib/system-error.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import {
  decodeDevices,
  decodeHappenings,
  decodeLeft,
  decodePairing,
  decodePause,
  decodePeer,
  decodePeers,
  decodeRevoked,
  decodeStatus,
  OWNER_ERROR_STATUS,
} from './admin-wire.ts'

/** A new password costs a second at worst; a daemon that takes longer is stuck. */
const TIMEOUT_MS = 15_000

/**
 * How often a connection that was cut without an answer is tried again. The daemon gives places of
 * strangers to newcomers, and before the header has arrived the owner is a stranger as well; where
 * others connect all the time, it takes some attempts. The daemon cuts no connection of the owner
 * whose request it has seen, unless it ends.
 */
const MAX_ATTEMPTS = 20

const CUT: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE'])

/** Thousands of devices fit. */
const MAX_ANSWER_BYTES: number = 16 * MIB

/** Where a running daemon can be asked. */
export interface ControlAddress {
  /** Base URL of the control listener. */
  readonly url: string
  readonly token: string
  /** Makes the error that is thrown in the place of {@link ControlUnreachableError}. */
  readonly explain?: (error: ControlUnreachableError) => Error
}

/** Nobody answers on the control listener, or nobody who knows us. */
export class ControlUnreachableError extends Error {
  override readonly name = 'ControlUnreachableError'
}

const decodeAddress = objectOf({ url: decodeString })
const decodeNothing = objectOf({})

const decodeProblem = objectOf({
  title: optional(decodeString),
  code: optional(decodeString),
  detail: optional(decodeString),
})

/** Makes the client of a running daemon. */
export function createAdminClient(address: ControlAddress): RunningDaemon {
  async function call<Value>(method: string, path: string, decode: Decoder<Value>, body?: unknown) {
    try {
      const { status, text } = await sendAgain(address, { method, path, body })
      const value = parse(text)
      if (status === 200) return decode(value)
      if (status === 401) throw new ControlUnreachableError('it does not accept control.token')
      const { title, code = '', detail } = decodeProblem(value)
      const message = detail ?? title ?? `The daemon answered ${status}`
      throw isOwnerError(code) ? new DomainError(code, message) : new Error(message)
    } catch (error) {
      throw error instanceof ControlUnreachableError ? (address.explain?.(error) ?? error) : error
    }
  }
  return {
    status: () => call('GET', '/status', decodeStatus),
    devices: () => call('GET', '/devices', decodeDevices),
    pair: (request) => call('POST', '/devices', decodePairing, request),
    rotate: async (device, url) => call('POST', `${pathOf(device)}/rotate`, decodePairing, { url }),
    revoke: async (device) => call('DELETE', pathOf(device), decodeRevoked),
    join: (request) => call('POST', '/peers', decodePeer, request),
    leave: (name) => call('DELETE', `/peers/${encodeURIComponent(name)}`, decodeLeft),
    peers: () => call('GET', '/peers', decodePeers),
    panelUrl: async () => (await call('GET', '/panel', decodeAddress)).url,
    happenings: () => call('GET', '/log', decodeHappenings),
    pause: (durationMs) => call('POST', '/pause', decodePause, { durationMs }),
    resume: async () => {
      await call('DELETE', '/pause', decodeNothing)
    },
    stop: async () => {
      await call('POST', '/stop', decodeNothing)
    },
    close: async () => undefined,
  }
}

function pathOf(device: string): string {
  // No id and no user name has other characters, and none of these means anything in a path.
  if (/^\w+$/.test(device)) return `/devices/${device}`
  throw new DomainError('NO_SUCH_DEVICE', `Cannot find a device "${device}"`)
}

function isOwnerError(code: string): code is DomainErrorCode {
  return Object.hasOwn(OWNER_ERROR_STATUS, code)
}

interface Question {
  readonly method: string
  readonly path: string
  /** Sent as JSON. */
  readonly body: unknown
}

async function sendAgain(address: ControlAddress, question: Question) {
  const { fetch, close } = createNodeFetch()
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    for (let attempt = 1; ; attempt++) {
      const response = await send(fetch, address, question, signal).catch(({ cause }: Error) => {
        if (attempt < MAX_ATTEMPTS && CUT.has(codeOf(cause))) return undefined
        throw unreachable(cause)
      })
      if (response === undefined) continue
      const text = await readAll(response).catch((cause: unknown) => {
        throw unreachable(cause)
      })
      return { status: response.status, text }
    }
  } finally {
    // The command ends with the answer.
    close()
  }
}

function send(
  fetch: NodeFetch['fetch'],
  { url, token }: ControlAddress,
  { method, path, body }: Question,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
  return fetch(new URL(path, url).href, { method, headers, body: bytes, signal })
}

async function readAll({ body }: FetchedResponse): Promise<string> {
  const received = new GrowingBuffer()
  const reader = body?.getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    received.append(part.value)
    if (received.filled.length > MAX_ANSWER_BYTES) throw new Error('its answer is too long')
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(received.filled)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The cause would quote the answer, which may hold a password.
    throw new ControlUnreachableError('its answer is not JSON')
  }
}

function unreachable(cause: unknown): ControlUnreachableError {
  const isError = cause instanceof Error && !['AbortError', 'TimeoutError'].includes(cause.name)
  const reason = isError ? (codeOf(cause) ?? cause.message) : 'it does not answer'
  return new ControlUnreachableError(reason, { cause })
}
