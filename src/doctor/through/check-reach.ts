/**
 * The way to the address: its name, its connections, and who is behind TLS.
 *
 * @module
 */

import { lookup as systemLookup } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { isLocalAddress } from '../../daemon/addresses.ts'
import { codeOf } from '../../lib/system-error.ts'
import { fine, hint, problem, type Finding } from '../finding.ts'
import { hostOf, portOf, type Target } from './target.ts'
import type { Step, Visit } from './visit.ts'

/** Certificates are renewed a month before their end where that works. */
const SOON_DAYS = 14
const DAY_MS = 86_400_000

/** A name with more has others that are as good. */
const MAX_ADDRESSES = 6

const HAIRPIN =
  'routers may not lead back into their own network: then try from elsewhere, with --link-file'

export async function checkReach({ target, machine }: Visit): Promise<Step> {
  const { base } = target
  const addresses = await resolve(target)
  if (addresses.length === 0) {
    const fix = 'check the spelling, and the DNS records of the name'
    return stop(problem('reach', `the name ${hostOf(base)} has no address`, fix))
  }
  // Before anything is sent there.
  const isPublic = addresses.some((address) => !isLocalAddress(address, machine.interfaces))
  if (base.protocol === 'http:' && isPublic) {
    const fix = 'put a proxy with TLS in front and use its https URL, or a VPN: docs/proxy.md'
    const detail = 'plain HTTP to a public address: no password was sent there, and no phone should'
    return stop(problem('tls', detail, fix))
  }
  const attempts = await Promise.all(
    addresses.map(async (address) => ({ address, ...(await tryConnect(target, address)) })),
  )
  const [best, ...others] = attempts.filter(({ trouble }) => trouble === undefined)
  const silent = attempts.filter(({ trouble }) => trouble !== undefined)
  const troubles = silent.map(({ address, trouble }) => `${address} ${trouble}`).join('; ')
  if (best === undefined) {
    const fix = `check that something listens on port ${portOf(base)}, and the firewall; ${HAIRPIN}`
    return stop(problem('reach', `no connection: ${troubles}`, fix))
  }
  const names = [best, ...others].map(({ address }) => address).join(', ')
  const detail = `${names}, connected in ${Math.ceil(best.tookMs)} ms`
  const reach =
    silent.length === 0
      ? fine('reach', detail)
      : hint(
          'reach',
          `${detail}, but ${troubles}`,
          `phones may try that one first: make it work, or remove its DNS record; ${HAIRPIN}`,
        )
  if (base.protocol === 'https:')
    return { findings: [reach, ...(await checkTls(target, best.address))], goOn: true }
  return { findings: [reach], goOn: true }
}

function stop(finding: Finding): Step {
  return { findings: [finding], goOn: false }
}

async function resolve(target: Target): Promise<readonly string[]> {
  const host = hostOf(target.base)
  if (isIP(host) !== 0) return [host]
  // The types of `dns.lookup` are overloads of this one.
  const lookup = target.lookup ?? (systemLookup as LookupFunction)
  const found = await within(
    target,
    new Promise<readonly string[]>((done) => {
      lookup(host, { all: true }, (error, addresses) => {
        if (error !== null || !Array.isArray(addresses)) return done([])
        done([...new Set(addresses.map(({ address }) => address))].slice(0, MAX_ADDRESSES))
      })
    }),
  )
  return found ?? []
}

/** `undefined` when it takes too long: a resolver cannot be told to stop. */
async function within<Value>(
  { patience, signal }: Target,
  work: Promise<Value>,
): Promise<Value | undefined> {
  let stopWaiting = (): void => undefined
  const late = new Promise<undefined>((done) => {
    stopWaiting = () => done(undefined)
  })
  const timer = setTimeout(stopWaiting, patience.connectMs)
  signal.addEventListener('abort', stopWaiting, { once: true })
  try {
    const value = await Promise.race([work, late])
    signal.throwIfAborted()
    return value
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stopWaiting)
  }
}

interface Attempt {
  readonly tookMs: number
  readonly trouble: string | undefined
}

async function tryConnect(target: Target, address: string): Promise<Attempt> {
  const started = performance.now()
  const socket = connect({ host: address, port: portOf(target.base) })
  const trouble = await waitFor(target, socket, 'connect')
  socket.destroy()
  return { tookMs: performance.now() - started, trouble }
}

/** @returns What went wrong instead. */
async function waitFor(
  target: Target,
  socket: Socket,
  event: 'connect' | 'secureConnect',
): Promise<string | undefined> {
  const outcome = await within(
    target,
    new Promise<string>((done) => {
      socket.once(event, () => done(''))
      socket.on('error', (error) => done(`fails with ${codeOf(error) ?? error.name}`))
      socket.once('close', () => done('hangs up'))
    }),
  )
  return outcome === '' ? undefined : (outcome ?? 'does not answer')
}

async function checkTls(target: Target, address: string): Promise<readonly Finding[]> {
  const name = hostOf(target.base)
  const socket = connectTls({
    host: address,
    port: portOf(target.base),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(target.ca === undefined ? {} : { ca: target.ca }),
    ALPNProtocols: ['h2', 'http/1.1'],
    // What is wrong with the certificate is looked at below; nothing is sent over this connection.
    rejectUnauthorized: false,
  })
  const trouble = await waitFor(target, socket, 'secureConnect')
  const finding =
    trouble === undefined
      ? judge(socket, name)
      : problem(
          'tls',
          `no TLS 1.2 or later: the handshake ${trouble}`,
          'have the proxy speak TLS on this port: ssl_protocols TLSv1.2 TLSv1.3, or the like',
        )
  socket.destroy()
  return [finding]
}

function judge(socket: TLSSocket, name: string): Finding {
  const { authorized, authorizationError } = socket
  const until = Date.parse(socket.getPeerCertificate().valid_to)
  const days = Math.floor((until - Date.now()) / DAY_MS)
  if (!authorized) {
    // It is a code, whatever the types say.
    const code = String(authorizationError)
    const [what, fix] = explain(code, name)
    return problem('tls', `${what} (${code})`, fix)
  }
  const http = socket.alpnProtocol === 'h2' ? 'HTTP/2 and HTTP/1.1' : 'HTTP/1.1'
  const detail = `${socket.getProtocol()}, ${http}, certificate good for ${days} days`
  return days < SOON_DAYS
    ? hint(
        'tls',
        detail,
        'check that it is renewed: certbot renew --dry-run, or the log of the proxy',
      )
    : fine('tls', detail)
}

function explain(code: string, name: string): readonly [what: string, fix: string] {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return ['the certificate has expired', 'renew it, and reload the proxy']
    case 'CERT_NOT_YET_VALID':
      return ['the certificate is not valid yet', 'check the clocks of both machines']
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return [
        `the certificate is for other names than ${name}`,
        'get one for this name, or use the name that it is for',
      ]
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return [
        'the certificate does not lead to an authority',
        'have the proxy send the whole chain (fullchain.pem)',
      ]
    default:
      return [
        'the certificate is not trusted',
        'get one from an authority that phones know; yours would have to be on each phone',
      ]
  }
}
