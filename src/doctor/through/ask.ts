/**
 * One raw request, and its answer as it is: nothing is followed, decoded or kept.
 *
 * Headers matter here, so this is no `fetch`. No more than the beginning of an answer is read.
 * @module
 */

import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { KIB } from '../../core/limits.ts'
import { systemClock } from '../../lib/clock.ts'
import { peek } from '../../lib/read-bytes.ts'
import { codeOf } from '../../lib/system-error.ts'
import { parseJson } from '../../lib/utf8.ts'
import { withoutTrailing } from '../../lib/without-trailing.ts'
import { hostOf, portOf, type Visit } from './visit.ts'

/** A path that has no route, and is not one of the proxy either. */
export const NOWHERE = '/clipgate-doctor/nowhere'

/** A request to send. */
export interface Question {
  readonly method?: string
  /** Sent as it is, behind the path of the base URL. */
  readonly path: string
  /** The one who asks: the login of the visit, unless it is one of these. */
  readonly as?: 'nobody' | 'wrong password'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Sends the header alone, although it announces a body. */
  readonly keepsBody?: true
  /** Asks again when the server is busy, as a client does. */
  readonly comesAgain?: true
  /** Milliseconds after which the answer is not waited for any more; as the patience says. */
  readonly answerMs?: number
}

/** The answer of a server to a {@link Question}. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The beginning of the body. */
  readonly text: string
  /** Milliseconds from the request to the end of what was read. */
  readonly tookMs: number
}

/** No answer came. The message completes "the server …", and quotes nothing. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** Whether nothing at all had come when patience was over. */
  readonly isLate: boolean

  constructor(message: string, { isLate = false }: { readonly isLate?: boolean } = {}) {
    super(message)
    this.isLate = isLate
  }
}

const MAX_BODY_BYTES: number = 64 * KIB

/** As often as a client would come again, and after what the gateway says in `Retry-After`. */
const MAX_TIMES = 8
const PAUSE_MS = 1000

/**
 * Sends a request, and waits for its answer.
 *
 * @throws {NoAnswerError} or, once the signal of the visit has aborted, its reason.
 */
export async function ask(visit: Visit, question: Question): Promise<Answer> {
  for (let times = 1; ; times += 1) {
    const started = performance.now()
    const answer = await exchange(visit, question, async (response) => {
      const { head } = await peek(response, MAX_BODY_BYTES)
      const { statusCode: status = 0, headers } = response
      const text = Buffer.from(head).toString('utf8')
      return { status, headers, text, tookMs: performance.now() - started }
    })
    const isBusy = answer.status === 503 || answer.status === 429
    if (!isBusy || question.comesAgain !== true || times === MAX_TIMES) return answer
    await delay(PAUSE_MS, undefined, { signal: visit.signal })
  }
}

/**
 * Sends a request, and lets `read` read its answer.
 *
 * @throws {NoAnswerError} or, once the signal of the visit has aborted, its reason.
 */
export async function exchange<Result>(
  visit: Visit,
  question: Question,
  read: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const { base, ca, lookup, login, patience, signal } = visit
  const { method = 'GET', path, as, headers = {} } = question
  const header = as === 'wrong password' ? login?.wrongHeader : login?.header
  const isAnonymous = as === 'nobody' || header === undefined
  const late = new AbortController()
  const answerMs = question.answerMs ?? patience.answerMs
  const cancelTimeout = systemClock.after(answerMs, () => late.abort())
  const request = base.protocol === 'http:' ? httpRequest : httpsRequest
  const outgoing = request({
    method,
    host: hostOf(base),
    port: portOf(base),
    path: withoutTrailing(base.pathname, '/') + path,
    headers: { ...headers, ...(isAnonymous ? {} : { Authorization: header }) },
    agent: false,
    signal: AbortSignal.any([signal, late.signal]),
    ...(lookup === undefined ? {} : { lookup }),
    ...(ca === undefined ? {} : { ca }),
  })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve)
      // Also what follows an answer that came before all was sent.
      outgoing.on('error', reject)
      if (question.keepsBody === true) outgoing.flushHeaders()
      else outgoing.end(question.body)
    })
    // Trouble on the way to an answer is told by the error of its stream.
    response.on('error', () => undefined)
    cancelTimeout()
    return await read(response)
  } catch (error) {
    signal.throwIfAborted()
    if (late.signal.aborted) throw new NoAnswerError('does not answer', { isLate: true })
    throw new NoAnswerError(describeCut(error))
  } finally {
    cancelTimeout()
    outgoing.destroy()
  }
}

/** Waits for an answer; `undefined` when nothing came in time. A server that hangs up throws. */
export async function unlessLate<Value>(came: Promise<Value>): Promise<Value | undefined> {
  try {
    return await came
  } catch (error) {
    if (error instanceof NoAnswerError && error.isLate) return undefined
    throw error
  }
}

/** The code in a refusal of the gateway; `undefined` when somebody else answered. */
export function problemCode({ headers, text }: Answer): string | undefined {
  if (!/^application\/problem\+json\b/i.test(headers['content-type'] ?? '')) return undefined
  const code = memberOf(jsonOf(text), 'code')
  return typeof code === 'string' ? code : undefined
}

/** The value of a JSON text; `undefined` when it is something else, as the pages of proxies are. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** A member of a JSON object; `undefined` when there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Names whoever answered, as far as a stranger may be quoted. */
export function describeAnswer({ status, headers }: Pick<Answer, 'status' | 'headers'>): string {
  const { server } = headers
  return server === undefined ? `${status}` : `${status} by "${server.slice(0, 40)}"`
}

function describeCut(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') return 'refuses connections'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'hangs up'
  return `fails with ${code ?? (error instanceof Error ? error.name : 'unknown error')}`
}
