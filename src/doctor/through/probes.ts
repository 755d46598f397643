/**
 * The probes of an address: what each asks, and what it makes of the answers.
 *
 * Nothing is stored: a request that would store something is one that the gateway refuses.
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { TOLERANCE_MS } from '../check-machine.ts'
import { fine, hint, problem, type Verdict } from '../finding.ts'
import {
  ask,
  describeAnswer,
  jsonOf,
  NOWHERE,
  problemCode,
  NoAnswerError,
  type Answer,
  type Question,
} from './ask.ts'
import { HUB, RANGE, UPLOADS } from './bodies.ts'
import { hostOf, type Probe, type Visit } from './visit.ts'

/** A probe that sends requests one after the other, and judges their answers together. */
function probe<Name extends string>(
  check: string,
  questions: Readonly<Record<Name, Question>>,
  judge: (answers: Readonly<Record<Name, Answer>>, visit: Visit) => Verdict | Promise<Verdict>,
): Probe {
  return {
    check,
    async look(visit) {
      // Filled below, with one answer for each name.
      const answers = {} as Record<Name, Answer>
      for (const name in questions) answers[name] = await ask(visit, questions[name])
      return judge(answers, visit)
    },
  }
}

const HEALTH: Question = { path: '/healthz', as: 'nobody' }
const VERSION: Question = { path: '/api/version' }
const DOCUMENT = '/Sync.json'

/** One of the addresses that are kept for documentation (RFC 5737): nobody's. */
const SPOOFED = '203.0.113.7'

const HTTP_PORT = 80

/** Asks the name over plain HTTP, where TLS is meant. No login is ever sent there. */
export const PLAIN_HTTP: Probe = {
  check: 'plain-http',
  async look(visit) {
    const { base, patience } = visit
    // With a custom HTTPS port, the HTTP port cannot be guessed.
    const port = visit.plainPort ?? (base.port === '' ? HTTP_PORT : undefined)
    if (base.protocol !== 'https:' || port === undefined) return []
    const plain = new URL(`http://${base.hostname}:${port}${base.pathname}`)
    const question = { ...HEALTH, answerMs: patience.connectMs }
    try {
      return judgePlainHttp(await ask({ ...visit, base: plain }, question))
    } catch (error) {
      if (error instanceof NoAnswerError) return fine('plain HTTP gets no answer')
      throw error
    }
  },
}

function judgePlainHttp({ status }: Answer): Verdict {
  if (status === 204) {
    const fix = 'have the proxy answer this site on its TLS port only'
    return problem('the gateway answers plain HTTP too: passwords can be read on the way', fix)
  }
  if (status < 300 || status >= 400) {
    return fine(`plain HTTP does not get to the gateway (${status})`)
  }
  const fix = 'close the connection there instead: Caddy "abort", nginx "return 444"'
  return hint('plain HTTP is redirected, after a password was sent in the clear unnoticed', fix)
}

/** Whether it is the gateway that answers; nothing else is asked otherwise. */
export const REACHES_GATEWAY: Probe = probe(
  'health',
  { answer: HEALTH },
  ({ answer }, { base }) => {
    const { status, headers, text, tookMs } = answer
    const who = `/healthz says ${describeAnswer(answer)}`
    if (status === 204) return fine(`/healthz says 204 after ${Math.ceil(tookMs)} ms`)
    if (status >= 300 && status < 400) {
      const fix =
        'use the address that it leads to; clients do not follow, so that no password goes astray'
      return problem(`${who}, a redirect to ${redirectTarget(headers.location, base)}`, fix)
    }
    if (status === 401 || status === 403) {
      const fix =
        'take the login or the access rule of the proxy away for this site: the gateway has its own'
      return problem(`${who}: the proxy lets nobody through without a login of its own`, fix)
    }
    if (status === 502 || status === 503 || status === 504) {
      const fix =
        'check that the daemon runs (clipgate status), and where proxy_pass or reverse_proxy leads'
      return problem(`${who}: the proxy does not reach the daemon`, fix)
    }
    const body = text === '' ? '' : ', with a body'
    return problem(
      `${who}${body}, and not 204: this is not the gateway, or not as it answers`,
      'check that the proxy passes all paths of the address to the gateway, and changes no answers',
    )
  },
)

/** Says only whose address it is: what follows may be anything. */
function redirectTarget(location: string | undefined, base: URL): string {
  if (location === undefined || !URL.canParse(location, base.href)) return 'nowhere'
  const { origin, hostname } = new URL(location, base)
  return hostname === '' ? 'nowhere' : origin
}

const NO_CACHE =
  'keep the proxy from caching: proxy_cache off, or a rule that bypasses the cache for this site'

/** The fields in which caches tell of themselves. */
const CACHE_FIELDS = ['x-cache', 'cf-cache-status', 'x-proxy-cache', 'x-cache-status'] as const

/** Looks for the marks of a cache. One that leaves no trace cannot be told from the gateway. */
export const HEALTH_CACHE: Probe = {
  check: 'health-cache',
  async look(visit) {
    const first = await ask(visit, HEALTH)
    await delay(visit.patience.cacheMs, undefined, { signal: visit.signal })
    return judgeCache(first, await ask(visit, HEALTH), visit.base)
  },
}

function judgeCache(first: Answer, { headers }: Answer, base: URL): Verdict {
  const { date } = first.headers
  const hits = CACHE_FIELDS.filter((name) => /\bhit\b/i.test(String(headers[name] ?? '')))
  const marks = [
    ...(headers.age === undefined ? [] : ['it has an age']),
    ...hits,
    ...(date !== undefined && date === headers.date ? ['its date stands still'] : []),
  ]
  if (marks.length > 0) {
    const detail = '/healthz comes from a cache, and would say that a dead daemon lives'
    return problem(`${detail} (${marks.join(', ')})`, NO_CACHE)
  }
  if (!/\bno-store\b/i.test(headers['cache-control'] ?? '')) {
    const detail =
      'the proxy takes "no-store" off /healthz: caches in front of it may answer for a dead daemon'
    return problem(detail, 'leave Cache-Control as the gateway sends it')
  }
  if (date !== undefined) return fine('/healthz is not cached')
  const fix = `stop the daemon for a moment: curl -i ${hostOf(base)}/healthz must fail`
  return hint('no mark of a cache; without a Date it cannot be ruled out', fix)
}

/** A request without a login must be asked for one, in the words of the gateway. */
export const CHALLENGE: Probe = probe(
  'challenge',
  { answer: { ...VERSION, as: 'nobody' } },
  ({ answer }) => {
    const { status, headers } = answer
    const challenge = headers['www-authenticate']
    if (status === 200) {
      return problem(
        'a request without a login is served: anybody can read the clipboard',
        'take it off the network, until the proxy adds no Authorization and caches nothing',
      )
    }
    if (status !== 401) {
      const fix = 'have the proxy pass all paths and all answers as they are'
      return problem(`a request without a login gets ${describeAnswer(answer)}, and not 401`, fix)
    }
    if (challenge === undefined) {
      const fix =
        'have the proxy pass that header on: no proxy_hide_header, no error page of its own for 401'
      const effect = 'some clients never send their password then'
      return problem(`the proxy takes WWW-Authenticate away from 401: ${effect}`, fix)
    }
    if (/^Basic realm="clipgate"/i.test(challenge)) {
      return fine('a request without a login is asked for one')
    }
    return problem(
      'the proxy asks for a login of its own in front of that of the gateway',
      'take auth_basic or the like away for this site: a request has one Authorization only',
    )
  },
)

const PASSWORD: Probe = probe(
  'authorization',
  // Verifying passwords is slow on purpose: who is told to come again goes first when it does.
  { answer: { ...VERSION, comesAgain: true } },
  ({ answer }, { login }) => {
    const { status, text } = answer
    const version = jsonOf(text)
    if (status === 200) {
      if (typeof version === 'string' && /^clipgate \d/.test(version)) {
        return fine(`the password gets through to ${version}`)
      }
      const fix = 'check that all paths of this address lead to the gateway'
      return problem('the login is accepted, but not by a clipgate', fix)
    }
    if (status === 429 || status === 503) {
      return problem(`the gateway is busy with logins (${status})`, 'try again in a minute')
    }
    if (status !== 401) {
      const fix = 'have the proxy pass requests with Authorization like all others'
      return problem(`a request with the right password gets ${describeAnswer(answer)}`, fix)
    }
    const fix =
      'have the proxy pass Authorization on: no proxy_set_header Authorization, no auth module'
    if (login?.borrowed === undefined) {
      return problem(
        'the password fails: it was changed, or the proxy removes Authorization',
        `try the link on the network of the daemon; if it works there, ${fix}`,
      )
    }
    return problem(
      'a password of the daemon here fails: the proxy removes Authorization, or leads elsewhere',
      `${fix}; and check that its upstream is this machine`,
    )
  },
)

/** The right password must be accepted, by a clipgate. */
export const AUTHORIZATION: Probe = {
  check: 'authorization',
  async look(visit) {
    if (visit.login !== undefined) return PASSWORD.look(visit)
    const detail = 'not checked: no daemon runs here that could make a password for it'
    const fix =
      'start the daemon here and check again, or give the link of a device: --link-file FILE'
    return problem(detail, fix)
  },
}

/** The answer to one login must not be given to another. */
export const ANSWER_CACHE: Probe = probe(
  'answer-cache',
  {
    none: { ...VERSION, as: 'nobody' },
    wrong: { ...VERSION, as: 'wrong password', comesAgain: true },
    right: { ...VERSION, comesAgain: true },
  },
  ({ none, wrong, right }) => {
    const fix = 'keep the proxy from caching, above all answers to requests with Authorization'
    if (none.status < 400 || wrong.status < 400) {
      const detail = 'who has no password, or a wrong one, gets the answer that was for another'
      return problem(detail, fix)
    }
    if (right.status === 200) return fine('each login gets its own answer')
    const detail = `the right password gets ${right.status} after a wrong one: the refusal was kept`
    return problem(detail, fix)
  },
)

/** Clients read the codes in the bodies of refusals. */
const ERRORS: Probe = probe(
  'errors',
  { refused: { path: NOWHERE, as: 'nobody' }, missing: { path: NOWHERE } },
  ({ refused, missing }) => {
    if (problemCode(refused) === 'UNAUTHORIZED' && problemCode(missing) === 'NOT_FOUND') {
      return fine('refusals arrive as the gateway words them')
    }
    const rules = 'proxy_intercept_errors off, no error_page, no handle_errors'
    return problem(
      `the proxy replaces refusals by its own: ${describeAnswer(missing)}`,
      `no error pages of the proxy here: ${rules}`,
    )
  },
)

/** `%2F` in a name is no folder, and `//` occurs in the wild. */
const PATHS: Probe = probe(
  'paths',
  {
    slash: { path: '/file/a%2Fb' },
    double: { path: '//api//version' },
    dots: { path: '/file/../api/version' },
  },
  ({ slash, double, dots }) => {
    const changed = [
      ...(slash.status === 400 ? [] : ['%2F']),
      ...(double.status === 200 ? [] : ['//']),
      ...(dots.status === 404 ? [] : ['/../']),
    ]
    if (changed.length === 0) return fine('paths arrive as they were sent')
    const apache = 'in Apache AllowEncodedSlashes NoDecode, nocanon'
    return problem(
      `the proxy changes or refuses paths with ${changed.join(', ')}`,
      `proxy_pass without a path behind the address; ${apache}`,
    )
  },
)

const COMPRESSION: Probe = probe(
  'compression',
  { answer: { path: DOCUMENT, headers: { 'Accept-Encoding': 'gzip, deflate, br, zstd' } } },
  ({ answer: { headers } }) => {
    const { etag } = headers
    const isPlain = headers['content-encoding'] === undefined
    if (isPlain && etag?.startsWith('W/') === false) {
      return fine('answers are not compressed, and keep their ETag')
    }
    const change = etag === undefined ? 'removes' : 'weakens'
    const what = isPlain
      ? `${change} the ETag, as proxies do that change answers`
      : 'compresses answers'
    return problem(
      `the proxy ${what}: polling costs more, and downloads cannot go on where they stopped`,
      'switch compression and rewriting off for this site: gzip off, no encode, no sub_filter',
    )
  },
)

const SERVER_CLOCK: Probe = probe(
  'server-clock',
  { answer: { path: '/api/time' } },
  ({ answer }) => {
    const value = jsonOf(answer.text)
    const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
    if (Number.isNaN(time)) {
      const fix = 'have the proxy pass all paths as they are'
      return problem(`/api/time says ${describeAnswer(answer)}, and no time`, fix)
    }
    // The answer was made somewhere between the request and now.
    const now = Date.now()
    const offMs = Math.max(0, now - answer.tookMs - time, time - now)
    const seconds = `${Math.round(offMs / 1000)} s`
    if (offMs <= TOLERANCE_MS) {
      return fine(offMs < 1000 ? 'agrees with the clock here' : `${seconds} off the clock here`)
    }
    const effect = 'clients that synchronise histories drop what they take for old'
    const fix = 'set both clocks by the network: sudo timedatectl set-ntp true'
    return problem(`${seconds} off the clock here: ${effect}`, fix)
  },
)

/** A page of this address may use it, or is refused for its origin; its body is refused anyway. */
const ORIGIN: Probe = {
  check: 'origin',
  async look(visit) {
    const { origin } = visit.base
    const { status } = await ask(visit, {
      method: 'PUT',
      path: DOCUMENT,
      headers: { Origin: origin, 'Content-Type': 'application/json' },
      body: Buffer.from('no JSON, so that nothing is stored'),
    })
    if (status !== 403) return fine('web pages of this address may use it')
    const detail =
      'web apps at this address are refused, as pages of a stranger; phone apps are not'
    return hint(detail, `set --public-url ${origin}, and have the proxy keep Host`)
  },
}

/** A client must not choose its address. Only the daemon sees it, so this needs a local one. */
const CLIENT_ADDRESS: Probe = probe(
  'client-address',
  { answer: { ...VERSION, headers: { 'X-Forwarded-For': SPOOFED, Forwarded: `for=${SPOOFED}` } } },
  async (_answers, { login }) => {
    if (login?.borrowed === undefined) {
      return fine('not checked: only the daemon can tell, and none was asked')
    }
    const { id, admin } = login.borrowed
    const seen = (await admin.devices()).find((device) => device.id === id)?.lastSeenAddress
    if (seen !== SPOOFED) {
      return fine(`the daemon saw ${seen ?? 'no address'}, and not what a client may claim`)
    }
    return problem(
      'a client can claim any address: the proxy passes X-Forwarded-For on as it came',
      'have the proxy replace X-Forwarded-For: proxy_set_header X-Forwarded-For $remote_addr',
    )
  },
)

/** The probes that need a login and nothing else, in the order of their findings. */
export const WITH_LOGIN: readonly Probe[] = [
  ERRORS,
  PATHS,
  COMPRESSION,
  RANGE,
  UPLOADS,
  HUB,
  SERVER_CLOCK,
  ORIGIN,
  // The last one: the daemon is asked what the request before it left behind.
  CLIENT_ADDRESS,
]
