/**
 * Checks an address from one end to the other: with a device that is borrowed from the daemon here,
 * or with one whose link was given.
 *
 * Where a check fails that others need, the others are left out: they would say the same again.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { isPidTaken } from '../../lib/system-error.ts'
import { basicAuthorization } from '../../link/base64url.ts'
import type { Admin, DeviceSummary } from '../../ports/admin.ts'
import { findingOf, problem, type Finding } from '../finding.ts'
import { NoAnswerError } from './ask.ts'
import { EVENTS } from './bodies.ts'
import {
  ANSWER_CACHE,
  AUTHORIZATION,
  CHALLENGE,
  HEALTH_CACHE,
  PLAIN_HTTP,
  REACHES_GATEWAY,
  WITH_LOGIN,
} from './probes.ts'
import { checkReach } from './reach.ts'
import { PATIENCE, type Login, type Patience, type Probe, type Visit } from './visit.ts'

/** An address to check. */
export interface Address {
  /** Base URL. */
  readonly url: string
  readonly credentials: { readonly user: string; readonly pwd: string } | undefined
}

/** The means to check an address; for tests also what stands for the network. */
export interface ExamineOptions
  extends Pick<Visit, 'machine' | 'signal' | 'ca' | 'plainPort' | 'lookup'> {
  /** The daemon that runs here, if one does; a borrowed device is given back whatever happens. */
  readonly admin: Pick<Admin, 'pair' | 'revoke' | 'devices'> | undefined
  readonly patience?: Partial<Patience>
}

/** @throws The reason of the signal. */
export async function examine(
  { url, credentials }: Address,
  { admin, ...options }: ExamineOptions,
): Promise<readonly Finding[]> {
  const { signal } = options
  const patience = { ...PATIENCE, ...options.patience }
  const check = async (login: Login | undefined): Promise<readonly Finding[]> => {
    // From here on: making a device waits for others to be verified.
    const limit = AbortSignal.timeout(patience.totalMs)
    const either = AbortSignal.any([signal, limit])
    try {
      return await visitAll({ ...options, base: new URL(url), login, patience, signal: either })
    } catch (error) {
      if (signal.aborted || !limit.aborted) throw error
      const detail = `not all answers came within ${Math.round(patience.totalMs / 1000)} s`
      const fix = 'find out what is slow: the network, the proxy, or the daemon'
      return [findingOf('patience', problem(detail, fix))]
    }
  }
  if (credentials !== undefined) return check(toLogin(credentials.user, credentials.pwd))
  return admin === undefined ? check(undefined) : withBorrowedDevice(admin, check)
}

async function visitAll(visit: Visit): Promise<readonly Finding[]> {
  const way = await checkReach(visit)
  if (hasProblem(way)) return way
  const plain = await look(PLAIN_HTTP, visit)
  const health = await look(REACHES_GATEWAY, visit)
  const found = [...way, ...plain, ...health]
  if (hasProblem(health)) return found
  const [behind, cache] = await Promise.all([visitGateway(visit), look(HEALTH_CACHE, visit)])
  return [...found, ...behind, ...cache]
}

async function visitGateway(visit: Visit): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const probe of [CHALLENGE, AUTHORIZATION, ANSWER_CACHE]) {
    findings.push(...(await look(probe, visit)))
    if (hasProblem(findings)) return findings
  }
  // The stream takes half a minute, in which all the rest is done.
  const [events, others] = await Promise.all([look(EVENTS, visit), lookInTurn(WITH_LOGIN, visit)])
  return [...findings, ...others, ...events]
}

async function lookInTurn(probes: readonly Probe[], visit: Visit): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const probe of probes) findings.push(...(await look(probe, visit)))
  return findings
}

/** Looks once. No answer at all is a finding; every other failure is for the caller. */
async function look({ check, look: run }: Probe, visit: Visit): Promise<readonly Finding[]> {
  try {
    const found = await run(visit)
    return 'ok' in found ? [findingOf(check, found)] : found
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    const fix = 'check the log of the proxy, and that the daemon runs: clipgate status'
    return [findingOf(check, problem(`the server ${error.message}`, fix))]
  }
}

function hasProblem(findings: readonly Finding[]): boolean {
  return findings.some(({ ok }) => !ok)
}

const LABEL = 'doctor'

/** Says whose it is, so that what a crash leaves behind can be told from what is in use. */
const USERNAME = /^doctor_(\d{1,10})_[0-9a-f]{8}$/

/** Longer than any run. */
const ABANDONED_MS = 10 * 60_000

/** Passwords that daemons mint have as many bits. */
const PASSWORD_BYTES = 16

/**
 * Calls `use` with a device that is gone when this has settled, whatever happens: see
 * docs/decisions/020-a-device-for-the-doctor.md.
 */
async function withBorrowedDevice<Result>(
  admin: Pick<Admin, 'pair' | 'revoke' | 'devices'>,
  use: (login: Login) => Promise<Result>,
): Promise<Result> {
  for (const device of await admin.devices()) {
    if (isLeftOver(device)) await admin.revoke(device.id)
  }
  const username = `doctor_${process.pid}_${randomBytes(4).toString('hex')}`
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  // Nothing of the link is used; this base URL is one that always fits.
  const url = 'http://127.0.0.1'
  const { id } = await admin.pair({ kind: 'phone', label: LABEL, username, password, url })
  try {
    return await use(toLogin(username, password, { id, admin }))
  } finally {
    await admin.revoke(id)
  }
}

/** A login from a user name and a password. */
function toLogin(username: string, password: string, borrowed?: Login['borrowed']): Login {
  const wrong = randomBytes(PASSWORD_BYTES).toString('base64url')
  const header = basicAuthorization(username, password)
  return { header, wrongHeader: basicAuthorization(username, wrong), borrowed }
}

/** Whether a device is that of a run that was killed. */
function isLeftOver({ label, username, createdAt }: DeviceSummary): boolean {
  const pid = USERNAME.exec(username)?.[1]
  if (label !== LABEL || pid === undefined) return false
  return Date.now() - Date.parse(createdAt) > ABANDONED_MS || !isPidTaken(Number(pid))
}
