/**
 * Runs the checks through an address, from the way there to what is told only behind a login.
 * Where one fails that others need, the others are left out: they would say the same again.
 *
 * @module
 */

import { problem, type Finding } from '../finding.ts'
import { NoAnswerError } from './ask.ts'
import {
  checkClientAddress,
  checkCompression,
  checkErrors,
  checkOrigin,
  checkPaths,
  checkRange,
  checkTime,
} from './check-answers.ts'
import { checkEvents } from './check-events.ts'
import { checkHealth, checkHealthCache } from './check-health.ts'
import { checkAuthorization, checkChallenge } from './check-login.ts'
import { checkPlainHttp } from './check-plain-http.ts'
import { checkReach } from './check-reach.ts'
import { checkUploads } from './check-uploads.ts'
import type { LoggedIn, Step, Visit } from './visit.ts'

/** @throws The reason of the target's signal. */
export async function checkThrough(visit: Visit): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  /** @returns Whether to go on. */
  const take = ({ findings: found, goOn }: Step): boolean => {
    findings.push(...found)
    return goOn
  }
  if (!take(await attempt('reach', () => checkReach(visit)))) return findings
  if (findings.some(({ ok }) => !ok)) return findings

  const plain = await checkPlainHttp(visit)
  if (plain !== undefined) findings.push(plain)
  const health = await checkHealth(visit).catch((error: unknown) => explain('health', error))
  if (!take(health)) return findings
  const healthAt = performance.now()
  if (!take(await attempt('challenge', () => checkChallenge(visit)))) return findings

  const { login } = visit
  if (login === undefined) {
    const fix =
      'start the daemon here and check again, or give the link of a device: --link-file FILE'
    findings.push(
      problem(
        'authorization',
        'not checked: no daemon runs here that could make a password for it',
        fix,
      ),
    )
  } else {
    const loggedIn = { ...visit, login }
    const accepted = await attempt('authorization', () => checkAuthorization(loggedIn))
    if (take(accepted)) findings.push(...(await checkBehindLogin(loggedIn)))
  }
  if ('answer' in health) {
    const { answer } = health
    const cache = () => checkHealthCache(visit, answer, healthAt)
    take(await attempt('health-cache', async () => one(await cache())))
  }
  return findings
}

/** The stream takes half a minute, in which all the rest is done. */
async function checkBehindLogin(visit: LoggedIn): Promise<readonly Finding[]> {
  const [events, answers] = await Promise.all([
    attempt('events', async () => one(await checkEvents(visit))),
    checkAnswers(visit),
  ])
  return [...answers, ...events.findings]
}

async function checkAnswers(visit: LoggedIn): Promise<readonly Finding[]> {
  const errors = await attempt('errors', async () => one(await checkErrors(visit)))
  const areErrorsOurs = errors.findings.every(({ ok }) => ok)
  const steps = [
    errors,
    ...(areErrorsOurs ? [await attempt('paths', async () => one(await checkPaths(visit)))] : []),
    await attempt('compression', async () => one(await checkCompression(visit))),
    await attempt('range', async () => one(await checkRange(visit))),
    await attempt('body-limit', async () => ({
      findings: await checkUploads(visit, areErrorsOurs),
      goOn: true,
    })),
    await attempt('server-clock', async () => one(await checkTime(visit))),
    await attempt('origin', async () => one(await checkOrigin(visit))),
    // The last one: it reads what the request before it left behind.
    await attempt('client-address', async () => one(await checkClientAddress(visit))),
  ]
  return steps.flatMap(({ findings }) => findings)
}

function one(finding: Finding): Step {
  return { findings: [finding], goOn: finding.ok }
}

async function attempt(check: string, step: () => Promise<Step>): Promise<Step> {
  try {
    return await step()
  } catch (error) {
    return explain(check, error)
  }
}

/** No answer at all is a finding; everything else is not for here. */
function explain(check: string, error: unknown): Step {
  if (!(error instanceof NoAnswerError)) throw error
  const fix = 'check the log of the proxy, and that the daemon runs: clipgate status'
  return { findings: [problem(check, `the server ${error.message}`, fix)], goOn: false }
}
