/**
 * Whether the gateway answers behind the address, and whether a cache answers in its place.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { fine, hint, problem, type Finding } from '../finding.ts'
import { ask, describeAnswer, type Answer } from './ask.ts'
import { hostOf } from './target.ts'
import type { Step, Visit } from './visit.ts'

const NO_CACHE =
  'keep the proxy from caching: proxy_cache off, or a rule that bypasses the cache for this site'

const CACHED = '/healthz comes from a cache, and would say that a dead daemon lives'

/** What caches say of themselves. */
const CACHE_FIELDS = ['x-cache', 'cf-cache-status', 'x-proxy-cache', 'x-cache-status'] as const

export interface Health extends Step {
  readonly answer: Answer
}

export async function checkHealth({ target }: Visit): Promise<Health> {
  const answer = await ask(target, { path: '/healthz' })
  const finding = judge(answer, target.base)
  return { findings: [finding], goOn: finding.ok, answer }
}

function judge(answer: Answer, base: URL): Finding {
  const { status, headers, text, tookMs } = answer
  if (status === 204) return fine('health', `/healthz says 204 after ${Math.ceil(tookMs)} ms`)
  const who = `/healthz says ${describeAnswer(answer)}`
  if (status >= 300 && status < 400) {
    const fix =
      'use the address that it leads to; clients do not follow, so that no password goes astray'
    return problem('health', `${who}, a redirect to ${redirectTarget(headers.location, base)}`, fix)
  }
  if (status === 401 || status === 403) {
    const fix =
      'take the login or the access rule of the proxy away for this site: the gateway has its own'
    return problem(
      'health',
      `${who}: the proxy lets nobody through without a login of its own`,
      fix,
    )
  }
  if (status === 502 || status === 503 || status === 504) {
    const fix =
      'check that the daemon runs (clipgate status), and where proxy_pass or reverse_proxy leads'
    return problem('health', `${who}: the proxy does not reach the daemon`, fix)
  }
  const body = text === '' ? '' : ', with a body'
  const fix =
    'check that the proxy passes all paths of this address to the gateway, and changes no answers'
  return problem(
    'health',
    `${who}${body}, and not 204: this is not the gateway, or not as it answers`,
    fix,
  )
}

/** Only whose it is: what follows may be anything. */
function redirectTarget(location: string | undefined, base: URL): string {
  if (location === undefined || !URL.canParse(location, base.href)) return 'nowhere'
  const { origin, hostname } = new URL(location, base)
  return hostname === '' ? 'nowhere' : origin
}

/**
 * Looks for the marks of a cache. One that answers without a trace cannot be told from the gateway.
 *
 * @param first An earlier answer.
 * @param firstAt When it came, on the monotonic clock.
 */
export async function checkHealthCache(
  { target }: Visit,
  first: Answer,
  firstAt: number,
): Promise<Finding> {
  const { patience, signal } = target
  const rest = firstAt + patience.cacheMs - performance.now()
  if (rest > 0) await delay(rest, undefined, { signal })
  const second = await ask(target, { path: '/healthz' })
  const marks = CACHE_FIELDS.filter((name) => /\bhit\b/i.test(String(second.headers[name] ?? '')))
  if (second.headers.age !== undefined) {
    return problem('health-cache', `${CACHED} (it has an age)`, NO_CACHE)
  }
  if (marks.length > 0) {
    return problem('health-cache', `${CACHED} (${marks.join(', ')})`, NO_CACHE)
  }
  const { date } = first.headers
  if (date !== undefined && date === second.headers.date) {
    return problem('health-cache', `${CACHED} (its date stands still)`, NO_CACHE)
  }
  if (!/\bno-store\b/i.test(second.headers['cache-control'] ?? '')) {
    const fix = 'leave Cache-Control as the gateway sends it'
    return problem(
      'health-cache',
      'the proxy takes "no-store" off /healthz: caches in front of it may answer for a dead daemon',
      fix,
    )
  }
  if (date === undefined) {
    return hint(
      'health-cache',
      'no mark of a cache; without a Date it cannot be ruled out',
      `stop the daemon for a moment: curl -i ${hostOf(target.base)}/healthz must fail`,
    )
  }
  return fine('health-cache', '/healthz is not cached')
}
