/**
 * The probes of bodies: parts of files, uploads, event streams and WebSockets.
 *
 * Nothing is stored: the gateway refuses these uploads for what they are, and never for their size.
 * The gateway looks at the name of a file before it takes a byte, and at a document as a whole.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { addAbortSignal } from 'node:stream'
import { MAX_DATA_NAME_BYTES } from '../../core/item.ts'
import { MAX_FILE_BYTES, MIB } from '../../core/limits.ts'
import { systemClock } from '../../lib/clock.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { fine, findingOf, problem, type Verdict } from '../finding.ts'
import {
  ask,
  describeAnswer,
  exchange,
  jsonOf,
  memberOf,
  NOWHERE,
  NoAnswerError,
  problemCode,
  unlessLate,
  type Answer,
  type Question,
} from './ask.ts'
import type { Probe, Visit } from './visit.ts'

/** Needs an item with bytes; nothing of it is shown, and one byte of it is fetched. */
export const RANGE: Probe = {
  check: 'range',
  async look(visit) {
    const document = jsonOf((await ask(visit, { path: '/Sync.json' })).text)
    const name = memberOf(document, 'hasData') === true ? memberOf(document, 'dataName') : ''
    if (typeof name !== 'string' || name === '' || !name.isWellFormed()) {
      return fine('not checked: what is on the clipboard is no image or file')
    }
    const path = `/file/${encodeURIComponent(name)}`
    return judgeRange(await ask(visit, { path, headers: { Range: 'bytes=0-0' } }))
  },
}

function judgeRange(answer: Answer): Verdict {
  const { status, text } = answer
  if (status === 206 && text.length > 0) return fine('parts of files arrive')
  // An empty file has no first byte, and an item may be replaced meanwhile.
  if (status === 416 || status === 404) {
    return fine('not checked: the file is empty, or was replaced meanwhile')
  }
  return problem(
    `a part of a file gets ${describeAnswer(answer)}, and not 206: broken downloads start over`,
    'have the proxy pass Range on: no proxy_force_ranges, no slice, no proxy_set_header Range',
  )
}

/** More than the usual limits of proxies, and of no great cost to anybody. */
const BODY_BYTES: number = 3 * MIB

const LIFT = 'client_max_body_size 0, request_body max_size, LimitRequestBody 0, or the like'

/** Announces the largest file, under a name that is refused with BAD_NAME: it is too long. */
const ANNOUNCED: Question = {
  method: 'PUT',
  path: `/file/clipgate-doctor-${'x'.repeat(MAX_DATA_NAME_BYTES)}`,
  headers: { 'Content-Length': String(MAX_FILE_BYTES), Expect: '100-continue' },
  keepsBody: true,
}

/** Whether the proxy limits uploads, or keeps them to itself until they are complete. */
export const UPLOADS: Probe = {
  check: 'body-limit',
  async look(visit) {
    // A refusal of the gateway has a code, unless the proxy puts pages of its own in its place.
    const areCodesKept = problemCode(await ask(visit, { path: NOWHERE })) !== undefined
    const isTheirs = (answer: Answer): boolean =>
      problemCode(answer) === undefined && (areCodesKept || answer.status !== 400)
    const question = { ...ANNOUNCED, answerMs: visit.patience.refusalMs }
    const announced = await unlessLate(ask(visit, question))
    if (announced !== undefined && isTheirs(announced)) {
      const who = describeAnswer(announced)
      return problem(`the proxy refuses ${formatBytes(MAX_FILE_BYTES)}: ${who}`, LIFT)
    }
    return [
      findingOf('body-limit', await sendCounted(visit, isTheirs)),
      findingOf('upload-buffering', judgeBuffering(announced)),
    ]
  },
}

/** Sends a document that is no JSON, in chunks, so that the proxy has to count. */
async function sendCounted(visit: Visit, isTheirs: (answer: Answer) => boolean): Promise<Verdict> {
  const size = formatBytes(BODY_BYTES)
  const headers = { 'Transfer-Encoding': 'chunked' }
  const body = Buffer.alloc(BODY_BYTES, 'x')
  try {
    const question = { method: 'PUT', path: '/Sync.json', headers, body } as const
    // A gateway that holds many bodies just now is busy, which says nothing of the proxy.
    const answer = await ask(visit, { ...question, comesAgain: true })
    if (!isTheirs(answer)) {
      return fine(`uploads get through: ${size} sent, ${formatBytes(MAX_FILE_BYTES)} announced`)
    }
    const who = describeAnswer(answer)
    return problem(`a body of ${size} in chunks is refused by the proxy: ${who}`, LIFT)
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    return problem(`a body of ${size} breaks the connection: the proxy ${error.message}`, LIFT)
  }
}

/** Silence means that the gateway has not seen the request: it would have refused it. */
function judgeBuffering(announced: Answer | undefined): Verdict {
  if (announced !== undefined) return fine('the gateway hears of an upload before its body is sent')
  return problem(
    'the proxy keeps an upload until it is complete: it costs its disk, and seems stuck',
    'proxy_request_buffering off, or whatever your proxy calls passing requests on as they come',
  )
}

/** Asks for the message hub with a token that nobody was given: no connection is opened. */
const WEB_SOCKET: Question = {
  path: '/SyncClipboardHub?id=clipgate-doctor',
  headers: {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
    'Sec-WebSocket-Version': '13',
  },
}

/** The message hub is a WebSocket; a request that has lost its `Upgrade` gets 426 there. */
export const HUB: Probe = {
  check: 'hub',
  async look(visit) {
    const answer = await ask(visit, WEB_SOCKET)
    if (answer.status === 404) return fine('requests for the message hub get through')
    return problem(
      `the message hub says ${describeAnswer(answer)}: apps that listen there hear of no change`,
      'have the proxy pass Upgrade on: in nginx proxy_http_version 1.1, proxy_set_header Upgrade ' +
        'and Connection; in Apache ProxyPass with upgrade=websocket',
    )
  },
}

/**
 * Events must arrive while a stream is open, and a stream may be silent.
 *
 * Nothing is pushed, which would replace what somebody copied: the greeting of the gateway and its
 * pings go the same way as any other event.
 */
export const EVENTS: Probe = {
  check: 'events',
  async look(visit) {
    const { helloMs } = visit.patience
    const headers = { Accept: 'text/event-stream', 'Accept-Encoding': 'gzip, deflate, br, zstd' }
    const question = { path: '/api/sse/clipboard', headers, answerMs: helloMs }
    const read = (response: IncomingMessage) => judgeStream(response, visit)
    return (await unlessLate(exchange(visit, question, read))) ?? heldBack(helloMs)
  },
}

async function judgeStream(response: IncomingMessage, visit: Visit): Promise<Verdict> {
  const { statusCode: status = 0, headers } = response
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  if (status !== 200 || !isStream) {
    const fix = 'have the proxy pass /api/sse/clipboard like every other path'
    return problem(`no event stream: ${describeAnswer({ status, headers })}`, fix)
  }
  if (headers['content-encoding'] !== undefined) {
    const fix = 'switch compression off for this site, at least for text/event-stream'
    return problem('the proxy compresses the event stream, and collects events for that', fix)
  }
  const { patience } = visit
  const { helloMs, pingMs, endMs } = await follow(response, visit)
  if (helloMs === undefined) return heldBack(endMs ?? patience.helloMs)
  const hello = `the first one came after ${Math.ceil(helloMs)} ms`
  if (pingMs !== undefined) return fine(`${hello}, a sign of life after ${seconds(pingMs)}`)
  if (endMs !== undefined) {
    const fix = 'let an answer be silent for more than 60 s: proxy_read_timeout 5m, or the like'
    return problem(`${hello}, but the stream was cut after ${seconds(endMs)}`, fix)
  }
  const silence = `no ping in ${seconds(patience.pingMs)}: held back, or --heartbeat is longer`
  return problem(`${hello}, but ${silence}`, STREAM)
}

const STREAM =
  'have the proxy pass answers on as they come: proxy_buffering off, flush_interval -1, or the like'

function heldBack(ms: number): Verdict {
  const silence = `no event in ${seconds(ms)}, where one is sent at once`
  return problem(`${silence}: the proxy holds events back`, STREAM)
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.round(ms / 1000)} s`
}

/** The end of a stream that is kept; a greeting has far less. */
const MAX_TEXT = 4096

const HELLO = /^event: ?hello$/m
const PING = /^: ?ping$/m

/** The milliseconds from the header of a stream to what came of it. */
type Stream = Partial<Record<'helloMs' | 'pingMs' | 'endMs', number>>

/** Reads until a ping has come, the stream has ended, or patience has. */
async function follow(response: IncomingMessage, { patience, signal }: Visit): Promise<Stream> {
  const started = performance.now()
  const late = new AbortController()
  const onLate = (): void => late.abort()
  let cancelTimeout = systemClock.after(patience.helloMs, onLate)
  let text = ''
  let helloMs: number | undefined
  try {
    for await (const piece of addAbortSignal(AbortSignal.any([signal, late.signal]), response)) {
      text = (text + String(piece)).slice(-MAX_TEXT)
      const now = performance.now() - started
      if (helloMs === undefined && HELLO.test(text)) {
        helloMs = now
        cancelTimeout()
        cancelTimeout = systemClock.after(patience.pingMs, onLate)
      }
      if (helloMs !== undefined && PING.test(text)) return { helloMs, pingMs: now }
    }
  } catch {
    // Given up, or cut in the middle, which is an end like any other.
    signal.throwIfAborted()
  } finally {
    cancelTimeout()
  }
  const seen = helloMs === undefined ? {} : { helloMs }
  return late.signal.aborted ? seen : { ...seen, endMs: performance.now() - started }
}
