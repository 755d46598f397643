/**
 * Whether the gateway can be reached where it listens, or could listen where it would.
 *
 * Seen from this machine only: what stands between it and a phone is for `check-firewall.ts`.
 *
 * @module
 */

import { request } from 'node:http'
import { createServer } from 'node:net'
import { usefulAddresses } from '../daemon/addresses.ts'
import { formatHostPort, isIPv6Host, isWildcardHost, type HostPort } from '../daemon/host-port.ts'
import { defaultListen, type Settings } from '../daemon/settings.ts'
import { codeOf } from '../lib/system-error.ts'
import { fine, problem, type Finding } from './finding.ts'
import type { Machine } from './machine.ts'
import { findPortOwner } from './port-owner.ts'
import type { RunningDaemon, Situation } from './situation.ts'

const CHECK = 'listening'

/** Of an answer of this machine to itself. */
const PATIENCE_MS = 3000

/** Where the gateway listens, or would. */
export function gatewayAddresses({ daemon, settings }: Situation): readonly HostPort[] {
  if (daemon === undefined) {
    return settings.listen ?? defaultListen(settings.headless ? 'headless' : 'desktop')
  }
  const gateways = daemon.status.listeners.filter(({ name }) => name === 'gateway')
  return gateways.flatMap(({ urls }) => urls).map(parseUrl)
}

export function checkListening(situation: Situation): Promise<Finding> {
  const { daemon } = situation
  return daemon === undefined ? checkPorts(situation) : checkAnswers(situation, daemon)
}

async function checkAnswers(situation: Situation, { status }: RunningDaemon): Promise<Finding> {
  const lost = status.listeners.find(({ error }) => error !== undefined)
  if (lost !== undefined) {
    const fix = 'end what took its place; the daemon comes back by itself, or start it again'
    return problem(CHECK, `the ${lost.name} does not listen: ${lost.error}`, fix)
  }
  const asked = gatewayAddresses(situation).flatMap((bound) =>
    namesOf(bound, situation.machine).map((host) => ({ host, port: bound.port })),
  )
  const answers = await Promise.all(
    asked.map(async (address) => ({ address, trouble: await askHealth(address) })),
  )
  const silent = answers.filter(({ trouble }) => trouble !== undefined)
  if (silent.length === 0) {
    return fine(CHECK, `answers at ${asked.map(formatHostPort).join(', ')}, asked from here`)
  }
  const detail = silent.map(({ address, trouble }) => `${formatHostPort(address)} ${trouble}`)
  const fix =
    'start the daemon again; if that does not help, look for rules that block this machine itself'
  return problem(CHECK, `no answer of the gateway: ${detail.join('; ')}`, fix)
}

/** What a link may name: bound to all addresses, the useful ones, and loopback. */
function namesOf({ host }: HostPort, machine: Machine): readonly string[] {
  if (!isWildcardHost(host)) return [host]
  const useful = usefulAddresses(machine.interfaces())
  const isSame = (address: string): boolean => isIPv6Host(address) === isIPv6Host(host)
  return [isIPv6Host(host) ? '::1' : '127.0.0.1', ...useful.filter(isSame)]
}

/** @returns What is wrong. */
function askHealth({ host, port }: HostPort): Promise<string | undefined> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const asked = request({ host, port, path: '/healthz', agent: false, signal })
    asked.on('response', (answer) => {
      answer.destroy()
      const { statusCode } = answer
      resolve(statusCode === 204 ? undefined : `answers ${statusCode}, as another program would`)
    })
    asked.on('error', (error) => {
      const isLate = error.name === 'TimeoutError' || error.name === 'AbortError'
      resolve(isLate ? 'does not answer' : `cannot be reached (${codeOf(error) ?? error.name})`)
    })
    asked.end()
  })
}

async function checkPorts(situation: Situation): Promise<Finding> {
  const { machine, settings, trouble } = situation
  if (trouble !== undefined)
    return fine(CHECK, 'not looked at: who holds the data directory may listen')
  const gateway = gatewayAddresses(situation)
  const wanted = [...gateway, settings.control]
  const taken: string[] = []
  let fix = ''
  for (const address of wanted) {
    const code = await tryListen(address)
    const isOptional = isWildcardHost(address.host) && address !== gateway[0]
    if (code === undefined || (isOptional && isFamilyMissing(code))) continue
    taken.push(await describe(code, address, machine))
    fix ||= fixFor(code, address, settings)
  }
  const free = `free: ${wanted.map(formatHostPort).join(', ')}`
  return taken.length === 0 ? fine(CHECK, free) : problem(CHECK, taken.join('; '), fix)
}

/** Listens for a moment. @returns The code of the failure. */
function tryListen({ host, port }: HostPort): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error) => resolve(codeOf(error) ?? error.name))
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => {
      server.close(() => resolve(undefined))
    })
  })
}

function isFamilyMissing(code: string): boolean {
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL'
}

async function describe(code: string, address: HostPort, machine: Machine): Promise<string> {
  const where = formatHostPort(address)
  if (code === 'EADDRINUSE') {
    const owner = await findPortOwner(machine, address.port)
    return `${where} is taken by ${owner === undefined ? 'another program' : `process ${owner}`}`
  }
  if (code === 'EACCES') return `${where} is not permitted to this user`
  if (isFamilyMissing(code)) return `${where} is no address of this machine`
  return `${where} cannot be used: ${code}`
}

function fixFor(code: string, address: HostPort, { control }: Settings): string {
  const option = address === control ? '--control' : '--listen'
  if (code === 'EADDRINUSE') return `end that program, or choose another port with ${option}`
  if (code === 'EACCES') return `choose a port from 1024 on with ${option}`
  return `set ${option} to an address of this machine`
}

function parseUrl(url: string): HostPort {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 80) }
}
