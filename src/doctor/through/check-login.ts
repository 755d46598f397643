/**
 * Whether logins get through, both ways, and whether the answer to one is ever given to another.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { fine, problem } from '../finding.ts'
import { ask, describeAnswer, parseJson, type Answer } from './ask.ts'
import type { Target } from './target.ts'
import type { LoggedIn, Step, Visit } from './visit.ts'

const PATH = '/api/version'

/** As often as a client would, and as long as the gateway says in `Retry-After`. */
const MAX_TIMES = 8
const PAUSE_MS = 1000

const CHALLENGE = /^Basic realm="clipgate"/i

const NO_STORE = 'keep the proxy from caching, above all answers to requests with Authorization'

/** A request without a login must be asked for one, in the words of the gateway. */
export async function checkChallenge({ target }: Visit): Promise<Step> {
  const answer = await ask(target, { path: PATH })
  const { status, headers } = answer
  if (status === 401 && CHALLENGE.test(headers['www-authenticate'] ?? '')) {
    return {
      findings: [fine('challenge', 'a request without a login is asked for one')],
      goOn: true,
    }
  }
  return {
    findings: [problem('challenge', ...explainChallenge(answer))],
    goOn: status === 401 && headers['www-authenticate'] === undefined,
  }
}

function explainChallenge(answer: Answer): readonly [detail: string, fix: string] {
  const { status, headers } = answer
  if (status === 200) {
    return [
      'a request without a login is served: anybody can read the clipboard',
      'take it off the network, until the proxy adds no Authorization and caches nothing',
    ]
  }
  if (status !== 401) {
    return [
      `a request without a login gets ${describeAnswer(answer)}, and not 401`,
      'have the proxy pass all paths and all answers as they are',
    ]
  }
  if (headers['www-authenticate'] === undefined) {
    return [
      'the proxy takes WWW-Authenticate away from 401: some clients never send their password then',
      'have the proxy pass that header on: no proxy_hide_header, no error page of its own for 401',
    ]
  }
  return [
    'the proxy asks for a login of its own in front of that of the gateway',
    'take auth_basic or the like away for this site: a request has one Authorization only',
  ]
}

/** The right password must be accepted, and nothing else. */
export async function checkAuthorization({ target, login }: LoggedIn): Promise<Step> {
  const right = await comeAgain(target, login.header)
  if (right.status !== 200) {
    return {
      findings: [problem('authorization', ...explainRefusal(right, login.borrowed))],
      goOn: false,
    }
  }
  const version = parseJson(right.text)
  if (typeof version !== 'string' || !/^clipgate \d/.test(version)) {
    const fix = 'check that all paths of this address lead to the gateway'
    return {
      findings: [problem('authorization', 'the login is accepted, but not by a clipgate', fix)],
      goOn: false,
    }
  }
  const others = [await ask(target, { path: PATH }), await comeAgain(target, login.wrongHeader)]
  const again = await comeAgain(target, login.header)
  const accepted = fine('authorization', `the password gets through to ${version}`)
  if (others.some(({ status }) => status < 400)) {
    const detail = 'who has no password, or a wrong one, gets the answer that was for another'
    return { findings: [accepted, problem('answer-cache', detail, NO_STORE)], goOn: false }
  }
  if (again.status !== 200) {
    const detail = `the right password gets ${again.status} after a wrong one: the refusal was kept`
    return { findings: [accepted, problem('answer-cache', detail, NO_STORE)], goOn: false }
  }
  return {
    findings: [accepted, fine('answer-cache', 'each login gets its own answer')],
    goOn: true,
  }
}

/** Verifying passwords is slow on purpose: who is told to come again goes first when it does. */
async function comeAgain(target: Target, login: string): Promise<Answer> {
  for (let times = 1; ; times++) {
    const answer = await ask(target, { path: PATH, login })
    const isBusy = answer.status === 503 || answer.status === 429
    if (!isBusy || times === MAX_TIMES) return answer
    await delay(PAUSE_MS, undefined, { signal: target.signal })
  }
}

function explainRefusal(
  answer: Answer,
  borrowed: LoggedIn['login']['borrowed'],
): readonly [detail: string, fix: string] {
  const { status } = answer
  if (status === 429 || status === 503) {
    return [`the gateway is busy with logins (${status})`, 'try again in a minute']
  }
  if (status !== 401) {
    const fix = 'have the proxy pass requests with Authorization like all others'
    return [`a request with the right password gets ${describeAnswer(answer)}`, fix]
  }
  const header =
    'have the proxy pass Authorization on: no proxy_set_header Authorization, no auth module'
  if (borrowed === undefined) {
    return [
      'the password fails: it was changed, or the proxy removes Authorization',
      `try the link on the network of the daemon; if it works there, ${header}`,
    ]
  }
  return [
    'a password of the daemon here fails: the proxy removes Authorization, or leads elsewhere',
    `${header}; and check that its upstream is this machine`,
  ]
}
