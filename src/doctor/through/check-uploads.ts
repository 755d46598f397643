/**
 * Whether the proxy limits uploads, or keeps them to itself until they are complete.
 *
 * Nothing is stored: the gateway refuses these requests for what they are, and never for their
 * size. It looks at the name of a file before it takes a byte, and at a document as a whole.
 *
 * @module
 */

import { MAX_FILE_BYTES, MIB } from '../../core/limits.ts'
import { MAX_DATA_NAME_BYTES } from '../../core/data-name.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { fine, problem, type Finding } from '../finding.ts'
import { ask, describeAnswer, NoAnswerError, open, problemCode, type Answer } from './ask.ts'
import type { Target } from './target.ts'
import type { LoggedIn } from './visit.ts'

/** Longer than a name may be: refused with BAD_NAME. */
const BAD_NAME = `clipgate-doctor-${'x'.repeat(MAX_DATA_NAME_BYTES)}`

/** More than the usual limits of proxies, and of no great cost to anybody. */
const BODY_BYTES: number = 3 * MIB

const LIFT = 'client_max_body_size 0, request_body max_size, LimitRequestBody 0, or the like'

const PASS_ON =
  'proxy_request_buffering off, or whatever your proxy calls passing requests on as they come'

/** @param areErrorsOurs Whether bodies of refusals arrive as the gateway sends them. */
export async function checkUploads(
  visit: LoggedIn,
  areErrorsOurs: boolean,
): Promise<readonly Finding[]> {
  const declared = await declareLargest(visit)
  if (declared !== undefined && isTheirs(declared, areErrorsOurs)) {
    const detail = `the proxy refuses ${formatBytes(MAX_FILE_BYTES)}: ${describeAnswer(declared)}`
    return [problem('body-limit', detail, LIFT)]
  }
  return [await sendBody(visit, areErrorsOurs), judgeBuffering(declared)]
}

/** Silence means that the gateway has not seen the request: it would have refused it. */
function judgeBuffering(declared: Answer | undefined): Finding {
  if (declared !== undefined) {
    return fine('upload-buffering', 'the gateway hears of an upload before its body is sent')
  }
  const detail =
    'the proxy keeps an upload until it is complete: it costs its disk, and seems stuck'
  return problem('upload-buffering', detail, PASS_ON)
}

/** Announces the largest file, and sends nothing of it. `undefined`: no answer without a body. */
function declareLargest({ target, login }: LoggedIn): Promise<Answer | undefined> {
  const headers = { 'Content-Length': String(MAX_FILE_BYTES), Expect: '100-continue' }
  const path = `/file/${BAD_NAME}`
  return waitForRefusal(target, { method: 'PUT', path, login: login.header, headers })
}

function waitForRefusal(
  target: Target,
  question: Parameters<typeof open>[1],
): Promise<Answer | undefined> {
  const started = performance.now()
  const { signal, patience } = target
  const late = AbortSignal.timeout(patience.refusalMs)
  const outgoing = open(target, question, AbortSignal.any([signal, late]))
  return new Promise((resolve, reject) => {
    outgoing.on('error', (error) => {
      if (signal.aborted) reject(signal.reason)
      else if (late.aborted) resolve(undefined)
      else reject(new NoAnswerError(`hangs up on an upload (${error.name})`, false))
    })
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers } = response
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text = (text + piece).slice(0, 4096)))
      response.on('error', () => undefined)
      response.once('close', () => {
        outgoing.destroy()
        const tookMs = performance.now() - started
        resolve({ status, headers, text, isComplete: response.complete, tookMs })
      })
    })
    // The headers; of the body nothing follows.
    outgoing.flushHeaders()
  })
}

/** Sends a document that is none, in chunks, so that the proxy has to count. */
async function sendBody({ target, login }: LoggedIn, areErrorsOurs: boolean): Promise<Finding> {
  const body = Buffer.alloc(BODY_BYTES, 'x')
  const headers = { 'Transfer-Encoding': 'chunked' }
  const question = { method: 'PUT', path: '/Sync.json', login: login.header, headers, body }
  const size = formatBytes(BODY_BYTES)
  try {
    const answer = await ask(target, question)
    if (!isTheirs(answer, areErrorsOurs)) {
      return fine(
        'body-limit',
        `uploads get through: ${size} sent, ${formatBytes(MAX_FILE_BYTES)} announced`,
      )
    }
    const detail = `a body of ${size} in chunks is refused by the proxy: ${describeAnswer(answer)}`
    return problem('body-limit', detail, LIFT)
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    return problem(
      'body-limit',
      `a body of ${size} breaks the connection: the proxy ${error.message}`,
      LIFT,
    )
  }
}

/** Ours are 400, or 413 where the owner has lowered the limits. */
function isTheirs(answer: Answer, areErrorsOurs: boolean): boolean {
  if (areErrorsOurs) return problemCode(answer) === undefined
  return answer.status !== 400
}
