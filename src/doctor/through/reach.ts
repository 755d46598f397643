/** The way to the address: its name, its connections, and who is behind TLS. @module */

import { lookup as systemLookup } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { countOf } from '../../lib/count-of.ts'
import { isLocalAddress } from '../../daemon/addresses.ts'
import { pagePath } from '../../daemon/package-files.ts'
import { codeOf } from '../../lib/system-error.ts'
import { fine, findingOf, hint, problem, type Finding, type Verdict } from '../finding.ts'
import { hostOf, portOf, type Visit } from './visit.ts'

/** Certificates are renewed a month before their end where that works. */
export const SOON_DAYS = 14
export const DAY_MS = 86_400_000

/** A name with more has others that are as good. */
const MAX_ADDRESSES = 6

const HAIRPIN =
  'routers may not lead back into their own network: then try from elsewhere, with --link-file'

type Trouble = readonly [what: string, fix: string]

const NO_CHAIN: Trouble = [
  'the certificate does not lead to an authority',
  'have the proxy send the whole chain (fullchain.pem)',
]

const UNTRUSTED: Trouble = [
  'the certificate is not trusted',
  'get one from an authority that phones know; yours would have to be on each phone',
]

/** The trouble with a certificate, by the code of OpenSSL. */
const CERTIFICATE_TROUBLES: Readonly<Record<string, Trouble>> = {
  CERT_HAS_EXPIRED: ['the certificate has expired', 'renew it, and reload what serves it'],
  CERT_NOT_YET_VALID: ['the certificate is not valid yet', 'check the clocks of both machines'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'the certificate is for other names than this one',
    'get one for this name, or use the name that it is for',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NO_CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_CHAIN,
}

/**
 * Connects to every address of the name, and looks at the certificate of the first that answers.
 * Where a problem is found, nothing must be sent there.
 *
 * @throws The reason of the signal of the visit.
 */
export async function checkReach(visit: Visit): Promise<readonly Finding[]> {
  const { base, machine } = visit
  const addresses = await resolve(visit)
  if (addresses.length === 0) {
    const fix = 'check the spelling, and the DNS records of the name'
    return [findingOf('reach', problem(`the name ${hostOf(base)} has no address`, fix))]
  }
  const isPublic = addresses.some((address) => !isLocalAddress(address, machine.interfaces))
  if (base.protocol === 'http:' && isPublic) {
    const page = pagePath('docs/proxy.md')
    const fix = `put a proxy with TLS in front and use its https URL, or a VPN: ${page}`
    const detail = 'plain HTTP to a public address: no password was sent there, and no phone should'
    return [findingOf('tls', problem(detail, fix))]
  }
  const attempts = await Promise.all(addresses.map((address) => tryConnect(visit, address)))
  const best = attempts.find(({ trouble }) => trouble === undefined)
  const reach = findingOf('reach', judgeAttempts(attempts, portOf(base)))
  if (best === undefined || base.protocol === 'http:') return [reach]
  return [reach, findingOf('tls', await checkTls(visit, best.address))]
}

interface Attempt {
  readonly address: string
  readonly tookMs: number
  /** The reason for which there is no connection; `undefined` when there is one. */
  readonly trouble: string | undefined
}

function judgeAttempts(attempts: readonly Attempt[], port: number): Verdict {
  const answering = attempts.filter(({ trouble }) => trouble === undefined)
  const silent = attempts.filter(({ trouble }) => trouble !== undefined)
  const [best] = answering
  const troubles = silent.map(({ address, trouble }) => `${address} ${trouble}`).join('; ')
  if (best === undefined) {
    const fix = `check that something listens on port ${port}, and the firewall; ${HAIRPIN}`
    return problem(`no connection: ${troubles}`, fix)
  }
  const names = answering.map(({ address }) => address)
  const detail = `${names.join(', ')}, connected in ${Math.ceil(best.tookMs)} ms`
  if (silent.length === 0) return fine(detail)
  const fix = `phones may try that one first: make it work, or remove its DNS record; ${HAIRPIN}`
  return hint(`${detail}, but ${troubles}`, fix)
}

async function resolve(visit: Visit): Promise<readonly string[]> {
  const host = hostOf(visit.base)
  if (isIP(host) !== 0) return [host]
  // The types of `dns.lookup` are overloads of this one.
  const lookup = visit.lookup ?? (systemLookup as LookupFunction)
  const found = new Promise<readonly string[]>((done) => {
    lookup(host, { all: true }, (error, addresses) => {
      if (error !== null || !Array.isArray(addresses)) return done([])
      done([...new Set(addresses.map(({ address }) => address))].slice(0, MAX_ADDRESSES))
    })
  })
  return (await within(visit, found)) ?? []
}

async function tryConnect(visit: Visit, address: string): Promise<Attempt> {
  const started = performance.now()
  const socket = connect({ host: address, port: portOf(visit.base) })
  const trouble = await waitFor(visit, socket, 'connect')
  socket.destroy()
  return { address, tookMs: performance.now() - started, trouble }
}

/** @returns What went wrong instead. */
async function waitFor(visit: Visit, socket: Socket, event: 'connect' | 'secureConnect') {
  const outcome = new Promise<string>((done) => {
    socket.once(event, () => done(''))
    socket.on('error', (error) => done(`fails with ${codeOf(error) ?? error.name}`))
    socket.once('close', () => done('hangs up'))
  })
  const trouble = (await within(visit, outcome)) ?? 'does not answer'
  return trouble || undefined
}

/** `undefined` when it takes too long: a resolver cannot be told to stop. */
async function within<Value>({ patience, signal }: Visit, work: Promise<Value>) {
  const done = new AbortController()
  const either = AbortSignal.any([signal, done.signal])
  const late = delay(patience.connectMs, undefined, { signal: either }).catch(() => undefined)
  try {
    const value = await Promise.race([work, late])
    signal.throwIfAborted()
    return value
  } finally {
    done.abort()
  }
}

/** The certificate and the versions that a handshake has shown. */
interface Handshake {
  /** The fault of the certificate, as a code of OpenSSL. */
  readonly flaw: string | undefined
  /** The versions of TLS and of HTTP. */
  readonly versions: string
  /** Unix milliseconds. */
  readonly notAfter: number
}

/** Makes a handshake at an address, and sends nothing. @returns What went wrong, if one failed. */
export async function shakeHands(visit: Visit, address: string): Promise<Handshake | string> {
  const name = hostOf(visit.base)
  const socket = connectTls({
    host: address,
    port: portOf(visit.base),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(visit.ca === undefined ? {} : { ca: visit.ca }),
    ALPNProtocols: ['h2', 'http/1.1'],
    // Faults of the certificate are told.
    rejectUnauthorized: false,
  })
  try {
    const trouble = await waitFor(visit, socket, 'secureConnect')
    return trouble ?? readHandshake(socket)
  } finally {
    socket.destroy()
  }
}

function readHandshake(socket: TLSSocket): Handshake {
  const http = socket.alpnProtocol === 'h2' ? 'HTTP/2 and HTTP/1.1' : 'HTTP/1.1'
  return {
    // It is a code, whatever the types say.
    flaw: socket.authorized ? undefined : String(socket.authorizationError),
    versions: `${socket.getProtocol()}, ${http}`,
    notAfter: Date.parse(socket.getPeerCertificate().valid_to),
  }
}

async function checkTls(visit: Visit, address: string): Promise<Verdict> {
  const shaken = await shakeHands(visit, address)
  if (typeof shaken === 'string') {
    const fix = 'have the proxy speak TLS on this port: ssl_protocols TLSv1.2 TLSv1.3, or the like'
    return problem(`no TLS 1.2 or later: the handshake ${shaken}`, fix)
  }
  const { flaw, versions, notAfter } = shaken
  if (flaw !== undefined) {
    const [what, fix] = CERTIFICATE_TROUBLES[flaw] ?? UNTRUSTED
    return problem(`${what} (${flaw})`, fix)
  }
  const days = Math.floor((notAfter - Date.now()) / DAY_MS)
  const detail = `${versions}, certificate good for ${countOf(days, 'day')}`
  if (days >= SOON_DAYS) return fine(detail)
  return hint(detail, 'check that it is renewed: certbot renew --dry-run, or the log of the proxy')
}
