/**
 * What the name says to plain HTTP, where TLS is meant. No login is ever sent there.
 *
 * @module
 */

import { fine, hint, problem, type Finding } from '../finding.ts'
import { ask, NoAnswerError } from './ask.ts'
import type { Target } from './target.ts'
import type { Visit } from './visit.ts'

const CHECK = 'plain-http'

const HTTP_PORT = 80

/** `undefined` where the port of HTTPS is one of its own, and nobody knows that of HTTP. */
export async function checkPlainHttp({ target }: Visit): Promise<Finding | undefined> {
  const { base, patience } = target
  const port = target.plainPort ?? (base.port === '' ? HTTP_PORT : undefined)
  if (base.protocol !== 'https:' || port === undefined) return undefined
  const plain: Target = {
    ...target,
    base: new URL(`http://${base.hostname}:${port}${base.pathname}`),
  }
  try {
    const { status } = await ask(plain, { path: '/healthz', answerMs: patience.connectMs })
    if (status === 204) {
      const fix = 'have the proxy answer this site on its TLS port only'
      return problem(
        CHECK,
        'the gateway answers plain HTTP too: passwords can be read on the way',
        fix,
      )
    }
    if (status < 300 || status >= 400)
      return fine(CHECK, `plain HTTP does not get to the gateway (${status})`)
    const fix = 'close the connection there instead: Caddy "abort", nginx "return 444"'
    return hint(
      CHECK,
      'plain HTTP is redirected, after a password was sent in the clear unnoticed',
      fix,
    )
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    return fine(CHECK, 'plain HTTP gets no answer')
  }
}
