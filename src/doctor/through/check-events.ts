/**
 * Whether events arrive while a stream is open, and whether it may be silent.
 *
 * Nothing is pushed, which would replace what somebody copied: the greeting of the gateway and its
 * pings go the same way as any other event.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { fine, problem, type Finding } from '../finding.ts'
import { describeAnswer, exchange, NoAnswerError } from './ask.ts'
import type { LoggedIn } from './visit.ts'

const CHECK = 'events'

const STREAM =
  'have the proxy pass answers on as they come: proxy_buffering off, flush_interval -1, or the like'

/** The beginning of a stream that was read; a greeting has far less. */
const MAX_TEXT = 4096

const HELLO = /^event: ?hello$/m
const PING = /^: ?ping$/m

/** What was seen, in milliseconds since the request. */
interface Stream {
  readonly helloMs: number | undefined
  readonly pingMs: number | undefined
  readonly end: { readonly atMs: number } | undefined
}

export async function checkEvents({ target, login }: LoggedIn): Promise<Finding> {
  const { patience } = target
  const question = {
    path: '/api/sse/clipboard',
    login: login.header,
    headers: { Accept: 'text/event-stream', 'Accept-Encoding': 'gzip, deflate, br, zstd' },
    answerMs: patience.helloMs,
  }
  try {
    return await exchange(target, question, async (response) => {
      const { statusCode = 0, headers } = response
      const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
      if (statusCode !== 200 || !isStream) {
        const fix = 'have the proxy pass /api/sse/clipboard like every other path'
        const answer = { status: statusCode, headers, text: '', isComplete: true, tookMs: 0 }
        return problem(CHECK, `no event stream: ${describeAnswer(answer)}`, fix)
      }
      if (headers['content-encoding'] !== undefined) {
        const fix = 'switch compression off for this site, at least for text/event-stream'
        return problem(
          CHECK,
          'the proxy compresses the event stream, and collects events for that',
          fix,
        )
      }
      return judge(await follow(response, patience, target.signal), patience)
    })
  } catch (error) {
    if (!(error instanceof NoAnswerError) || !error.isLate) throw error
    return heldBack(patience.helloMs)
  }
}

function judge(
  { helloMs, pingMs, end }: Stream,
  patience: { readonly helloMs: number; readonly pingMs: number },
): Finding {
  if (helloMs === undefined) return heldBack(end?.atMs ?? patience.helloMs)
  const hello = `the first one came after ${Math.ceil(helloMs)} ms`
  if (pingMs !== undefined) {
    return fine(CHECK, `${hello}, a sign of life after ${seconds(pingMs)}`)
  }
  const fix = 'let an answer be silent for more than 60 s: proxy_read_timeout 5m, or the like'
  if (end !== undefined) {
    return problem(CHECK, `${hello}, but the stream was cut after ${seconds(end.atMs)}`, fix)
  }
  return problem(
    CHECK,
    `${hello}, but no ping in ${seconds(patience.pingMs)}: held back, or --heartbeat is longer`,
    STREAM,
  )
}

function heldBack(ms: number): Finding {
  return problem(
    CHECK,
    `no event in ${seconds(ms)}, where one is sent at once: the proxy holds events back`,
    STREAM,
  )
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.round(ms / 1000)} s`
}

/** Reads until a ping has come, the stream has ended, or patience has. */
function follow(
  response: IncomingMessage,
  patience: { readonly helloMs: number; readonly pingMs: number },
  signal: AbortSignal,
): Promise<Stream> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    let text = ''
    let helloMs: number | undefined
    const settle = (pingMs?: number, hasEnded = false): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      const end = hasEnded ? { atMs: performance.now() - started } : undefined
      resolve({ helloMs, pingMs, end })
    }
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    let timer = setTimeout(settle, patience.helloMs)
    signal.addEventListener('abort', onAbort, { once: true })
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      text = (text + piece).slice(-MAX_TEXT)
      const now = performance.now() - started
      if (helloMs === undefined && HELLO.test(text)) {
        helloMs = now
        clearTimeout(timer)
        timer = setTimeout(settle, patience.pingMs)
      }
      if (helloMs !== undefined && PING.test(text)) settle(now)
    })
    // After an error too.
    response.once('close', () => settle(undefined, true))
  })
}
