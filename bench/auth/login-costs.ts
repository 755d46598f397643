/**
 * What logins of each kind cost a daemon that was just started.
 *
 * Each guess comes from an address of its own in 127.0.0.0/8: those of one address are held back,
 * and the daemon checks no more than one a second of them.
 * @module
 */

import { join } from 'node:path'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { Argon2Parameters } from '../../src/devices/phc-string.ts'
import { addCheapDevices } from '../../test/support/many-devices.ts'
import { RawClient } from '../../test/support/raw-http.ts'
import { startTwin, type Question } from '../support/bare-twin.ts'
import { setUpDaemon, startDaemon, type DaemonSetup } from '../support/daemon.ts'
import { findLoadTool } from '../support/load.ts'
import { readCpuSeconds } from '../support/process-usage.ts'
import { isQuick } from '../support/rounds.ts'

export interface SiteOptions {
  /** How many devices there are. */
  readonly devices: number
  /** What the hash of the one that logs in was made with; as the daemon does unless told. */
  readonly parameters?: Argon2Parameters
  /** The program that runs the daemon; the one that runs this unless told. */
  readonly node?: string
}

/** A first login: by the clock, in milliseconds, and by the processor. */
export interface FirstLogin {
  readonly ms: number
  /** Milliseconds of processor time. */
  readonly cpuMs: number
}

/** What a kind of request costs the daemon, and the same answer a bare `node:http`. */
export interface Sides {
  readonly ours: number
  readonly bare: number
}

/** All but `rate` of processor time. */
export interface LoginCosts {
  readonly first: FirstLogin
  /** Milliseconds. */
  readonly wrong: number
  readonly nobody: number
  /** Microseconds of a request. */
  readonly wrongAgain: Sides
  readonly fresh: Sides
  readonly kept: Sides
  /** Requests a second. */
  readonly rate: Sides
}

const GUESSES = isQuick ? 2 : 4
const REQUESTS = isQuick ? 200 : 1000
const SECONDS = 1

const PATH = '/Sync.json'

const tool = findLoadTool()

/** Makes a data directory in `folder`. */
export async function makeSite(
  folder: string,
  { devices, parameters, node }: SiteOptions,
): Promise<DaemonSetup> {
  const setup = { ...(await setUpDaemon(folder)), node }
  const file = join(folder, 'data', 'devices.json')
  await addCheapDevices(file, devices - 1)
  if (parameters === undefined) return setup
  const [device] = await addCheapDevices(file, 1, parameters)
  return { ...setup, authorization: device?.authorization ?? '' }
}

/** Starts the daemon, for one first login. */
export async function measureFirst(cleanup: AsyncCleanup, setup: DaemonSetup): Promise<FirstLogin> {
  const daemon = await startDaemon(cleanup, setup)
  const first = await logIn(daemon.pid, daemon.port, setup.authorization)
  await daemon.stop()
  return first
}

/** Starts the daemon, for logins of each kind. */
export async function measureLogins(
  cleanup: AsyncCleanup,
  setup: DaemonSetup,
): Promise<LoginCosts> {
  const { authorization, node } = setup
  const daemon = await startDaemon(cleanup, setup)
  const { pid, port } = daemon
  const first = await logIn(pid, port, authorization)
  const username = atob(authorization.slice('Basic '.length)).split(':')[0] ?? ''
  const [wrong, nobody] = [await costOfGuess(pid, port, username), await costOfGuess(pid, port, '')]

  const known = { pid, port, path: PATH, header: `Authorization: ${authorization}` }
  const twin = await startTwin(cleanup, known, node)
  const [fresh, bareFresh] = [await costOfFresh(known, 200), await costOfFresh(twin, 200)]
  const [kept, bareKept] = [await loadKept(known), await loadKept(twin)]
  await twin.stop()

  const guessed = { ...known, header: `Authorization: ${basic(username, 'guess 0')}` }
  const refusing = await startTwin(cleanup, guessed, node)
  const wrongAgain = await costOfFresh(guessed, 401)
  const bareRefusal = await costOfFresh(refusing, 401)
  await refusing.stop()
  await daemon.stop()
  return {
    first,
    wrong,
    nobody,
    wrongAgain: { ours: wrongAgain, bare: bareRefusal },
    fresh: { ours: fresh, bare: bareFresh },
    kept: { ours: kept.microseconds, bare: bareKept.microseconds },
    rate: { ours: kept.perSecond, bare: bareKept.perSecond },
  }
}

async function logIn(pid: number, port: number, authorization: string): Promise<FirstLogin> {
  let ms = 0
  const cpuSeconds = await cpuOf(pid, async () => {
    const start = performance.now()
    await ask({ port, header: `Authorization: ${authorization}` }, 200)
    ms = performance.now() - start
  })
  return { ms, cpuMs: 1e3 * cpuSeconds }
}

/** Milliseconds. @param username Of a device, or empty for a name that none has. */
async function costOfGuess(pid: number, port: number, username: string): Promise<number> {
  const cpuSeconds = await cpuOf(pid, async () => {
    for (let guess = 0; guess < GUESSES; guess++) {
      const credentials = basic(username === '' ? `nobody_${guess}` : username, `guess ${guess}`)
      await ask({ port, header: `Authorization: ${credentials}` }, 401, nextAddress())
    }
  })
  return (1e3 * cpuSeconds) / GUESSES
}

/** Microseconds of a request on a connection of its own, from an address of its own. */
async function costOfFresh(question: Question, expected: number): Promise<number> {
  const cpuSeconds = await cpuOf(question.pid, async () => {
    for (let request = 0; request < REQUESTS; request++) {
      await ask(question, expected, nextAddress())
    }
  })
  return (1e6 * cpuSeconds) / REQUESTS
}

async function loadKept({
  pid,
  port,
  path,
  header,
}: Question): Promise<{ readonly perSecond: number; readonly microseconds: number }> {
  let perSecond = 0
  const cpuSeconds = await cpuOf(pid, async () => {
    const url = `http://127.0.0.1:${port}${path}`
    perSecond = await tool.measure({ url, header, seconds: SECONDS })
  })
  return { perSecond, microseconds: (1e6 * cpuSeconds) / (perSecond * SECONDS) }
}

async function ask(
  { port, header }: Pick<Question, 'port' | 'header'>,
  expected: number,
  address?: string,
): Promise<void> {
  const client = await RawClient.connect(port, '127.0.0.1', address)
  const { status } = await client
    .send(`GET ${PATH} HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`)
    .read()
  client.close()
  if (status !== expected) throw new Error(`A login was answered ${status} instead of ${expected}`)
}

let addresses = 0

function nextAddress(): string {
  addresses = (addresses + 1) % 0xff_ff_ff
  return `127.${(addresses >> 16) & 0xff}.${(addresses >> 8) & 0xff}.${(addresses & 0xfe) + 1}`
}

function basic(username: string, password: string): string {
  return `Basic ${btoa(`${username}:${password}`)}`
}

/** Seconds of processor time that a process took meanwhile. */
async function cpuOf(pid: number, run: () => Promise<unknown>): Promise<number> {
  const before = readCpuSeconds(pid)
  await run()
  return readCpuSeconds(pid) - before
}
