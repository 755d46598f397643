/** One request and its answer. Credentials follow no redirection. @module */

import { isDataName } from '../core/item.ts'
import { KIB } from '../core/limits.ts'
import { discard, readJson, type Answer } from './answer.ts'
import { ClientError, refusalOf } from './client-error.ts'
import type { ByteSource, FetchedResponse, Server } from './server.ts'
import { SLOWEST_BYTES_PER_MS, Watchdog } from './watchdog.ts'

/** Room for the problem details of a refusal. */
const MAX_PROBLEM_BYTES: number = 64 * KIB

const PROBLEM_CODE = /^[A-Z][A-Z0-9_]{0,63}$/

/** A request to send. */
export interface Outgoing {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** Below the URL of the server, with a slash in front. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer> | ByteSource
  readonly signal?: AbortSignal | undefined
}

/** The path of the bytes of this name. @throws {ClientError} `ARGUMENT_INVALID` for a bad one. */
export function filePath(dataName: string): string {
  if (isDataName(dataName)) return `/file/${encodeURIComponent(dataName)}`
  throw new ClientError('ARGUMENT_INVALID', { reason: 'the data name is not a plain file name' })
}

/**
 * Sends a request, waits for the answer, and reads it.
 *
 * @param read Gets answers of success, and 304.
 * @throws {ClientError}
 */
export async function exchange<T>(
  server: Server,
  outgoing: Outgoing,
  read: (answer: Answer) => Promise<T>,
): Promise<T> {
  const answer = await openAnswer(server, outgoing)
  try {
    return await read(answer)
  } finally {
    await discard(answer)
  }
}

/**
 * Sends a request and waits for the answer, which is the caller's then.
 *
 * @throws {ClientError} also for answers other than those of success, and 304.
 */
export async function openAnswer(server: Server, outgoing: Outgoing): Promise<Answer> {
  const watchdog = new Watchdog(server, outgoing.signal)
  const response = await request(server, outgoing, watchdog)
  const answer = { response, watchdog }
  if (!response.ok && response.status !== 304) throw await readRefusal(answer)
  return answer
}

async function request(
  { base, authorization, timeoutMs, send }: Server,
  { method, path, headers, body }: Outgoing,
  watchdog: Watchdog,
): Promise<FetchedResponse> {
  try {
    const response = send(base + path, {
      method,
      // Compressed, an answer has a length that says nothing.
      headers: { 'Accept-Encoding': 'identity', ...headers, Authorization: authorization },
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: watchdog.signal,
    })
    return await watchdog.wait(response, timeoutMs + sizeOf(body) / SLOWEST_BYTES_PER_MS)
  } catch (error) {
    watchdog.close()
    throw error
  }
}

async function readRefusal(answer: Answer): Promise<ClientError> {
  const { status, headers } = answer.response
  const problem = await readProblem(answer)
  return refusalOf(status, { problem, retryAfterMs: readRetryAfter(headers) })
}

/** The code in the problem details of RFC 9457, if there is one. */
async function readProblem(answer: Answer): Promise<string | undefined> {
  try {
    const details = await readJson(answer, MAX_PROBLEM_BYTES)
    if (typeof details !== 'object' || details === null || !('code' in details)) return undefined
    const { code } = details
    return typeof code === 'string' && PROBLEM_CODE.test(code) ? code : undefined
  } catch {
    // Other servers and proxies answer in HTML, or hang up: the status has to do.
    return undefined
  } finally {
    await discard(answer)
  }
}

function sizeOf(body: Uint8Array | ByteSource | undefined): number {
  return body instanceof Uint8Array ? body.byteLength : (body?.size ?? 0)
}

/** How long the server asks to be left alone, in milliseconds (RFC 9110, 10.2.3). */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After') ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // Date.parse() takes much that is no date of HTTP.
  const until = /^[A-Z][a-z]{2}, .* GMT$/.test(value) ? Date.parse(value) : NaN
  return Number.isNaN(until) ? undefined : Math.max(0, until - Date.now())
}
