/**
 * Whether a link would name an address that a phone can reach.
 *
 * @module
 */

import { isIP } from 'node:net'
import {
  chooseBaseUrl,
  isLocalAddress,
  isOverlayInterface,
  listAddresses,
  usefulAddresses,
  type NetworkInterfaces,
} from '../daemon/addresses.ts'
import { formatHostPort, isIPv6Host, isLoopbackHost } from '../daemon/host-port.ts'
import { gatewayAddresses } from './check-listening.ts'
import { defaultInterface } from './default-route.ts'
import { fine, hint, problem, type Finding } from './finding.ts'
import type { Situation } from './situation.ts'

const CHECK = 'addresses'

export async function checkAddresses(situation: Situation): Promise<Finding> {
  const { settings, machine, daemon } = situation
  const { publicUrl, allowPublic } = settings
  if (publicUrl !== undefined) return checkPublicUrl(publicUrl, situation)

  const interfaces = machine.interfaces()
  const { url, warning } = chooseBaseUrl(gatewayAddresses(situation), interfaces, undefined)
  if (warning !== undefined) {
    const isHeadless = daemon === undefined ? settings.headless : daemon.status.mode === 'headless'
    if (isHeadless) {
      const fix =
        'if a proxy is in front, set --public-url to its URL, and try clipgate doctor --through URL'
      return hint(
        CHECK,
        `links name ${url}, which is this machine alone, as usual for a headless node`,
        fix,
      )
    }
    return problem(CHECK, `links name ${url}. ${warning}`, fixFor(situation, interfaces))
  }
  if (allowPublic) {
    const fix = 'leave --allow-public out, and let clients come through a VPN, or a proxy with TLS'
    return hint(
      CHECK,
      `links name ${url}; connections from public addresses are let in, without TLS`,
      fix,
    )
  }
  return await describe(url, situation, interfaces)
}

function checkPublicUrl(publicUrl: string, { machine }: Situation): Finding {
  const { protocol, hostname } = new URL(publicUrl)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isPublic = isIP(host) !== 0 && !isLocalAddress(host, machine.interfaces)
  if (protocol === 'http:' && isPublic) {
    const fix =
      'put a proxy with TLS in front, and set --public-url to its https URL: docs/proxy.md'
    return problem(
      CHECK,
      `links name ${publicUrl}: passwords would cross the internet in the clear`,
      fix,
    )
  }
  if (isLoopbackHost(host)) {
    return problem(
      CHECK,
      `links name ${publicUrl}, which is each phone itself`,
      'set --public-url to an address that phones can reach',
    )
  }
  return hint(
    CHECK,
    `links name ${publicUrl}`,
    `see whether all gets through: clipgate doctor --through ${publicUrl}`,
  )
}

function fixFor(situation: Situation, interfaces: NetworkInterfaces): string {
  const useful = usefulAddresses(interfaces)
  if (useful.length === 0) return 'connect this machine to a network, or set --public-url'
  const [bound] = gatewayAddresses(situation)
  const host = useful.every(isIPv6Host) ? '::' : '0.0.0.0'
  const port = bound === undefined || bound.port === 0 ? 42_720 : bound.port
  return `listen on the network: --listen ${formatHostPort({ host, port })}`
}

/** There may be several networks, and the phone is in one of them. */
async function describe(
  url: string,
  situation: Situation,
  interfaces: NetworkInterfaces,
): Promise<Finding> {
  const { machine } = situation
  const useful = usefulAddresses(interfaces)
  const detail = `links name ${url}`
  const vpn = await defaultInterface(machine)
  if (vpn !== undefined && isOverlayInterface(vpn)) {
    const fix =
      'if phones cannot connect, let the VPN leave local networks alone, often called "allow LAN"'
    return hint(CHECK, `${detail}; everything else goes through the VPN ${vpn}`, fix)
  }
  if (useful.length > 0 && useful.every(isIPv6Host)) {
    const fix = 'if a phone cannot connect, give this machine an IPv4 address too'
    return hint(
      CHECK,
      `${detail}; there is no IPv4 address, and some apps and networks need one`,
      fix,
    )
  }
  // Only where the gateway listens; and most interfaces have addresses of both kinds.
  const listed = listAddresses(gatewayAddresses(situation), interfaces, undefined)
  const others = listed.map((address) => address.url).filter((other) => other !== url)
  const networks = others.filter((other) => other.includes('[') === url.includes('['))
  const [first] = networks
  if (first === undefined) return fine(CHECK, detail)
  const hosts = networks.map((other) => new URL(other).hostname)
  const fix = `for phones in another network: clipgate pair --url ${first.replace(/:0$/, ':PORT')}`
  return hint(CHECK, `${detail}; this machine is also ${hosts.join(', ')}`, fix)
}
