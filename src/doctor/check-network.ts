/**
 * Whether phones can reach the gateway: where it listens, which address links name, and which
 * firewall may be in the way.
 *
 * Seen from this machine only. Rules of firewalls can only be read by root, and those of routers
 * not at all: the firewall that is on is named, and the command that lets phones in.
 * @module
 */

import { lstat } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer, isIP } from 'node:net'
import { join } from 'node:path'
import {
  chooseBaseUrl,
  findLostUrls,
  isLocalAddress,
  isOverlayInterface,
  listAddresses,
  usefulAddresses,
} from '../daemon/addresses.ts'
import {
  formatHostPort,
  isIPv6Host,
  isLoopbackHost,
  isWildcardHost,
  type HostPort,
} from '../daemon/host-port.ts'
import { findClipboards } from '../daemon/open-system-clipboard.ts'
import { pagePath } from '../daemon/package-files.ts'
import { defaultListen, tlsListen, type Settings } from '../daemon/settings.ts'
import { codeOf, hasCode, isAddressMissing } from '../lib/system-error.ts'
import { fine, hint, problem, type Verdict } from './finding.ts'
import { type AnsweringDaemon, type Machine, readSystemFile, type Situation } from './situation.ts'
import { hostOf, portOf } from './through/visit.ts'

/** Milliseconds for an answer of this machine to itself. */
const PATIENCE_MS = 3000

/** How to see who has a port, where that is not as on Linux. */
const LOOKS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'sudo lsof -nP -sTCP:LISTEN -iTCP',
  win32: 'netstat -ano | findstr ',
}

/** Where the gateway listens, or would. */
function gatewayAddresses({ daemon, settings, machine }: Situation): readonly HostPort[] {
  if (daemon === undefined) {
    return settings.listen ?? defaultListen(isHeadless(settings, machine) ? 'headless' : 'desktop')
  }
  return boundAs('gateway', daemon)
}

/** Where it listens with TLS, or would; none where it does not. */
export function secureAddresses(situation: Situation): readonly HostPort[] {
  const { daemon, settings } = situation
  if (daemon !== undefined) return boundAs('tls', daemon)
  if (!wantsTls(settings)) return []
  const wanted = tlsListen(settings, gatewayAddresses(situation))
  return wanted.map((address) => ({ ...address, isSecure: true }))
}

/** Whether a start would serve HTTPS, or be stopped by what is missing for that. */
export function wantsTls({ tls, tlsCert, tlsKey }: Settings): boolean {
  return tls === 'local' || tlsCert !== undefined || tlsKey !== undefined
}

function boundAs(kind: 'gateway' | 'tls', { status }: AnsweringDaemon): readonly HostPort[] {
  return status.listeners
    .filter(({ name }) => name === kind)
    .flatMap(({ urls }) => urls)
    .map((url) => new URL(url))
    .map((url) => ({ host: hostOf(url), port: portOf(url), isSecure: kind === 'tls' }))
}

/** Whether a start would go on headless, because it was told to or finds no desktop. */
function isHeadless({ headless, clipboard }: Settings, machine: Machine): boolean {
  const isAnywhere = findClipboards(machine).length > 0
  return headless || (clipboard === undefined && !isAnywhere)
}

/** Looks whether the gateway answers where it listens, or could listen where it would. */
export function checkListening(situation: Situation): Verdict | Promise<Verdict> {
  const { daemon, trouble } = situation
  if (daemon !== undefined) return checkAnswers(situation, daemon)
  if (trouble === undefined) return checkPorts(situation)
  return fine('not looked at: who holds the data directory may listen')
}

async function checkAnswers(situation: Situation, { status }: AnsweringDaemon): Promise<Verdict> {
  const lost = status.listeners.find(({ error }) => error !== undefined)
  if (lost !== undefined) {
    const fix = 'end what took its place; the daemon comes back by itself, or start it again'
    return problem(`the ${lost.name} does not listen: ${lost.error}`, fix)
  }
  const asked = gatewayAddresses(situation).flatMap(({ host, port }) =>
    namesOf(host, situation.machine).map((name) => ({ host: name, port })),
  )
  const troubles = await Promise.all(asked.map(askHealth))
  const silent = troubles.filter((trouble) => trouble !== undefined)
  if (silent.length === 0) {
    return fine(`answers at ${asked.map(formatHostPort).join(', ')}, asked from here`)
  }
  const fix =
    'start the daemon again; if that does not help, look for rules that block this machine itself'
  return problem(`no answer of the gateway: ${silent.join('; ')}`, fix)
}

/** The hosts that a link may name; all useful ones and loopback where every address is bound. */
function namesOf(host: string, machine: Machine): readonly string[] {
  if (!isWildcardHost(host)) return [host]
  const useful = usefulAddresses(machine.interfaces())
  const isSame = (address: string): boolean => isIPv6Host(address) === isIPv6Host(host)
  return [isIPv6Host(host) ? '::1' : '127.0.0.1', ...useful.filter(isSame)]
}

/** @returns What is wrong; `undefined` when the gateway answers. */
function askHealth({ host, port }: HostPort): Promise<string | undefined> {
  const where = formatHostPort({ host, port })
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const asked = request({ host, port, path: '/healthz', agent: false, signal })
    asked.on('response', (answer) => {
      answer.destroy()
      const { statusCode } = answer
      const wrong = `${where} answers ${statusCode}, as another program would`
      resolve(statusCode === 204 ? undefined : wrong)
    })
    asked.on('error', (error) => {
      const reason = `cannot be reached (${codeOf(error) ?? error.name})`
      resolve(`${where} ${signal.aborted ? 'does not answer' : reason}`)
    })
    asked.end()
  })
}

async function checkPorts(situation: Situation): Promise<Verdict> {
  const { settings } = situation
  const gateways = [gatewayAddresses(situation), secureAddresses(situation)]
  const wanted = [...gateways.flat(), settings.control]
  const taken: Verdict[] = []
  for (const address of wanted) {
    const error = await tryListen(address)
    const isFirst = gateways.some(([first]) => address === first)
    const isOptional = isWildcardHost(address.host) && !isFirst
    if (error === undefined || (isOptional && isAddressMissing(error))) continue
    taken.push(explainTaken(error, address, situation))
  }
  const [first] = taken
  if (first === undefined) return fine(`free: ${wanted.map(formatHostPort).join(', ')}`)
  return { ...first, detail: taken.map(({ detail }) => detail).join('; ') }
}

/** Listens for a moment. @returns The failure, if it was one. */
function tryListen({ host, port }: HostPort): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', resolve)
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => {
      server.close(() => resolve(undefined))
    })
  })
}

function explainTaken(error: Error, address: HostPort, { settings, machine }: Situation): Verdict {
  const where = formatHostPort(address)
  const gateway = address.isSecure === true ? '--tls-listen' : '--listen'
  const option = address === settings.control ? '--control' : gateway
  if (hasCode(error, 'EADDRINUSE')) {
    const look = LOOKS[machine.platform] ?? 'sudo ss -ltnp sport = '
    const see = `${look}:${address.port}`
    const fix = `end that program (see it: ${see}), or choose another port with ${option}`
    return problem(`${where} is taken by another program`, fix)
  }
  if (hasCode(error, 'EACCES')) {
    const fix = `choose a port from 1024 on with ${option}`
    return problem(`${where} is not permitted to this user`, fix)
  }
  const fix = `set ${option} to an address of this machine`
  if (isAddressMissing(error)) return problem(`${where} is no address of this machine`, fix)
  return problem(`${where} cannot be used: ${codeOf(error) ?? error.name}`, fix)
}

/** Looks whether links would name an address that a phone can reach. */
export async function checkAddresses(situation: Situation): Promise<Verdict> {
  const { settings, machine, daemon } = situation
  const { publicUrl, allowPublic } = settings
  if (publicUrl !== undefined) {
    const verdict = judgePublicUrl(publicUrl, machine)
    return verdict.ok ? (judgeLost(`links name ${publicUrl}`, daemon) ?? verdict) : verdict
  }

  const bound = gatewayAddresses(situation)
  const interfaces = machine.interfaces()
  const { url, warning } = chooseBaseUrl(bound, interfaces, undefined)
  const detail = `links name ${url}`
  const useful = usefulAddresses(interfaces)
  if (warning !== undefined) {
    const isNode =
      daemon === undefined ? isHeadless(settings, machine) : daemon.status.mode === 'headless'
    if (isNode) {
      const fix =
        'if a proxy is in front, set --public-url to its URL, and try clipgate doctor --through URL'
      return hint(`${detail}, which is this machine alone, as usual for a headless node`, fix)
    }
    const fix =
      useful.length === 0
        ? 'connect this machine to a network, or set --public-url'
        : `listen on the network: --listen ${formatHostPort(onNetwork(bound, useful))}`
    return problem(`${detail}. ${warning}`, fix)
  }
  const lost = judgeLost(detail, daemon)
  if (lost !== undefined) return lost
  if (allowPublic) {
    const fix = 'leave --allow-public out, and let clients come through a VPN, or a proxy with TLS'
    return hint(`${detail}; connections from public addresses are let in, without TLS`, fix)
  }
  const vpn = await findVpn(machine)
  if (vpn !== undefined) {
    const fix =
      'if phones cannot connect, let the VPN leave local networks alone, often called "allow LAN"'
    return hint(`${detail}; everything else goes through the VPN ${vpn}`, fix)
  }
  if (useful.length > 0 && useful.every(isIPv6Host)) {
    const fix = 'if a phone cannot connect, give this machine an IPv4 address too'
    return hint(`${detail}; there is no IPv4 address, and some apps and networks need one`, fix)
  }
  // There may be several networks, and the phone is in one of them. Most interfaces have addresses
  // of both kinds, and the others count only where the gateway listens.
  const others = listAddresses(bound, interfaces, undefined)
    .map((address) => address.url)
    .filter((other) => other !== url && other.includes('[') === url.includes('['))
  const [first] = others
  if (first === undefined) return fine(detail)
  const hosts = others.map((other) => new URL(other).hostname).join(', ')
  const fix = `for phones in another network: clipgate pair --url ${first.replace(/:0$/, ':PORT')}`
  return hint(`${detail}; this machine is also ${hosts}`, fix)
}

/** Tells of devices whose links name an address that this machine does not have any more. */
function judgeLost(detail: string, daemon: AnsweringDaemon | undefined): Verdict | undefined {
  const lost = daemon?.status.lostUrls ?? []
  if (lost.length === 0) return undefined
  const fix =
    'reserve the old address for this machine in the router, or clipgate rotate ID for a new code'
  return hint(`${detail}; links of some devices name ${lost.join(', ')}, which it lost`, fix)
}

function judgePublicUrl(publicUrl: string, machine: Machine): Verdict {
  const host = hostOf(new URL(publicUrl))
  const isPublic = isIP(host) !== 0 && !isLocalAddress(host, machine.interfaces)
  const detail = `links name ${publicUrl}`
  if (publicUrl.startsWith('http:') && isPublic) {
    const page = pagePath('docs/proxy.md')
    const fix = `put a proxy with TLS in front, and set --public-url to its https URL: ${page}`
    return problem(`${detail}: passwords would cross the internet in the clear`, fix)
  }
  if (isLoopbackHost(host)) {
    const fix = 'set --public-url to an address that phones can reach'
    return problem(`${detail}, which is each phone itself`, fix)
  }
  const [first] = usefulAddresses(machine.interfaces())
  if (findLostUrls([publicUrl], machine.interfaces()).length > 0) {
    const fix =
      'leave --public-url out and give each device a new code (clipgate rotate ID), or, if a ' +
      `proxy has that address: clipgate doctor --through ${publicUrl}`
    const own = first === undefined ? '' : `, which has ${first}`
    return hint(`${detail}, an address that does not belong to this machine${own}`, fix)
  }
  return hint(detail, `see whether all gets through: clipgate doctor --through ${publicUrl}`)
}

function onNetwork(bound: readonly HostPort[], useful: readonly string[]): HostPort {
  const port = bound[0]?.port
  return { host: useful.every(isIPv6Host) ? '::' : '0.0.0.0', port: port || 42_720 }
}

/** The VPN through which packets to everywhere else leave, if they leave through one. */
async function findVpn(machine: Machine): Promise<string | undefined> {
  const source = await machine.sourceAddress()
  const names = Object.entries(machine.interfaces())
    .filter(([, addresses]) => addresses?.some(({ address }) => address === source))
    .map(([name]) => name)
  return names.find(isOverlayInterface)
}

const UNSEEN = 'its rules cannot be seen from here'

/** Systemd keeps such a folder while the service runs. */
const FIREWALLD = 'sys/fs/cgroup/system.slice/firewalld.service'

const NFTABLES = 'etc/systemd/system/sysinit.target.wants/nftables.service'

/** Names the firewall that is on. */
export async function checkFirewall(situation: Situation): Promise<Verdict> {
  const { machine } = situation
  const open = gatewayAddresses(situation).find(({ host }) => !isLoopbackHost(host))
  if (open === undefined) return fine('none matters: the gateway listens on loopback only')
  const secure = secureAddresses(situation).find(({ host }) => !isLoopbackHost(host))
  const all = [open, ...(secure === undefined ? [] : [secure])]
  const ports = all.map(({ port }) => (port === 0 ? 'PORT' : String(port)))
  const port = ports.join(',')
  if (machine.platform === 'darwin') {
    const fix = 'System Settings, Network, Firewall, Options: allow incoming connections for node'
    return hint('macOS may ask, or block silently; that cannot be seen from here', fix)
  }
  if (machine.platform === 'win32') {
    const fix =
      'as administrator: netsh advfirewall firewall add rule name=clipgate dir=in action=allow ' +
      `protocol=TCP localport=${port} profile=private`
    return hint('Windows blocks programs that nobody allowed; that cannot be seen from here', fix)
  }
  const ufw = await readSystemFile(machine, 'etc/ufw/ufw.conf')
  if (ufw !== undefined && /^ENABLED=yes$/im.test(ufw)) {
    return hint(`ufw is on; ${UNSEEN}`, `sudo ufw allow ${port}/tcp`)
  }
  if (await exists(machine, FIREWALLD)) {
    const added = ports.map((one) => `--add-port=${one}/tcp`).join(' ')
    const fix = `sudo firewall-cmd --permanent ${added} && sudo firewall-cmd --reload`
    return hint(`firewalld runs; ${UNSEEN}`, fix)
  }
  if (await exists(machine, NFTABLES)) {
    const set = ports.length === 1 ? port : `{ ${ports.join(', ')} }`
    const fix = `in /etc/nftables.conf, in the chain for input: tcp dport ${set} accept`
    return hint(`nftables is loaded at boot; ${UNSEEN}`, fix)
  }
  const none = 'neither ufw, firewalld nor nftables is set up'
  return fine(`${none}; other rules cannot be seen from here`)
}

/** Whether something is there; what is hidden from this user counts as missing. */
function exists({ root }: Machine, path: string): Promise<boolean> {
  return lstat(join(root, path)).then(
    () => true,
    () => false,
  )
}
