/**
 * One raw request, and its answer as it is: nothing is followed, decoded or kept.
 *
 * Headers matter here, so this is no `fetch`. What is read of an answer is bounded.
 *
 * @module
 */

import {
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { KIB } from '../../core/limits.ts'
import { codeOf } from '../../lib/system-error.ts'
import { withoutTrailing } from '../../lib/without-trailing.ts'
import { hostOf, portOf, type Target } from './target.ts'

export interface Question {
  readonly method?: string
  /** Sent as it is, behind the path of the base URL. */
  readonly path: string
  /** The value of `Authorization`. */
  readonly login?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** Stops waiting for the answer earlier than usual. */
  readonly answerMs?: number | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The beginning of the body. */
  readonly text: string
  readonly isComplete: boolean
  /** How long it took, in milliseconds. */
  readonly tookMs: number
}

/** There was no answer. The message completes "it …", and quotes nothing. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly isLate: boolean

  constructor(message: string, isLate: boolean) {
    super(message)
    this.isLate = isLate
  }
}

const MAX_BODY_BYTES: number = 64 * KIB

const PROBLEM_CODE = /^[A-Z][A-Z0-9_]{0,63}$/

/**
 * Sends a request, and waits for its answer.
 *
 * @throws {NoAnswerError} or, once the target's signal has aborted, its reason.
 */
export function ask(target: Target, question: Question): Promise<Answer> {
  const started = performance.now()
  return exchange(target, question, async (response) => {
    const { text, isComplete } = await readStart(response)
    const { statusCode = 0, headers } = response
    return { status: statusCode, headers, text, isComplete, tookMs: performance.now() - started }
  })
}

/** The same, for answers whose body is for `read`. */
export async function exchange<Result>(
  target: Target,
  question: Question,
  read: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const { patience, signal } = target
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), question.answerMs ?? patience.answerMs)
  const outgoing = open(target, question, AbortSignal.any([signal, late.signal]))
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve)
      // Also what follows an answer that came before all was sent.
      outgoing.on('error', reject)
      outgoing.end(question.body)
    })
    // Trouble on the way to an answer is told by the error of its stream.
    response.on('error', () => undefined)
    clearTimeout(timer)
    return await read(response)
  } catch (error) {
    signal.throwIfAborted()
    throw late.signal.aborted ? new NoAnswerError('does not answer', true) : toNoAnswer(error)
  } finally {
    clearTimeout(timer)
    outgoing.destroy()
  }
}

/** A request that is not sent off yet. */
export function open(
  { base, ca, lookup }: Target,
  { method = 'GET', path, login, headers = {} }: Question,
  signal: AbortSignal,
): ClientRequest {
  const options = {
    method,
    host: hostOf(base),
    port: portOf(base),
    path: withoutTrailing(base.pathname, '/') + path,
    headers: { ...headers, ...(login === undefined ? {} : { Authorization: login }) },
    agent: false,
    signal,
    ...(lookup === undefined ? {} : { lookup }),
  } as const
  if (base.protocol === 'http:') return httpRequest(options)
  return httpsRequest({ ...options, ...(ca === undefined ? {} : { ca }) })
}

/** The code in a refusal of the gateway; `undefined` when somebody else answered. */
export function problemCode({ headers, text }: Answer): string | undefined {
  if (!/^application\/problem\+json\b/i.test(headers['content-type'] ?? '')) return undefined
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || !('code' in value)) return undefined
  const { code } = value
  return typeof code === 'string' && PROBLEM_CODE.test(code) ? code : undefined
}

/** `undefined` when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Proxies answer in HTML; the cause would quote it.
    return undefined
  }
}

/** Who answered, as far as a stranger may be quoted. */
export function describeAnswer(answer: Answer): string {
  const { server } = answer.headers
  const name = server === undefined ? '' : ` by "${server.slice(0, 40)}"`
  return `${answer.status}${name}`
}

async function readStart(
  response: IncomingMessage,
): Promise<{ readonly text: string; readonly isComplete: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    // Nobody set an encoding, so these are bytes.
    const bytes = chunk as Buffer
    chunks.push(bytes)
    size += bytes.length
    if (size > MAX_BODY_BYTES) break
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8')
  return { text, isComplete: size <= MAX_BODY_BYTES }
}

function toNoAnswer(error: unknown): NoAnswerError {
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') return new NoAnswerError('refuses connections', false)
  if (code === 'ECONNRESET' || code === 'EPIPE') return new NoAnswerError('hangs up', false)
  const name = error instanceof Error ? error.name : 'unknown error'
  return new NoAnswerError(`fails with ${code ?? name}`, false)
}
