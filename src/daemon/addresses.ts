/** Which addresses are near, and which one a phone should use. @module */

import { isIP } from 'node:net'
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import type { LinkBase } from '../control/device-admin.ts'
import { createAddressTest } from '../http/client-address.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { PanelAddress } from '../ports/panel.ts'
import {
  formatBaseUrl,
  isIPv6Host,
  isLoopbackHost,
  isWildcardHost,
  type HostPort,
} from './host-port.ts'

/** The answer of `os.networkInterfaces()`. */
export type NetworkInterfaces = Readonly<
  Record<string, readonly Pick<NetworkInterfaceInfo, 'address' | 'internal' | 'cidr'>[] | undefined>
>

const LOOPBACK = ['127.0.0.0/8', '::1/128']

const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10']

// RFC 1918, RFC 6598 (overlays such as Tailscale live there) and RFC 4193.
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']

// Bridges and ends of cables to containers and virtual machines: no phone is there.
const VIRTUAL_INTERFACE =
  /^(?:docker|br-|veth|virbr|vmnet|vboxnet|lxc|lxdbr|podman|cni|flannel|cali|vethernet)/i

const PHYSICAL_INTERFACE = /^(?:en|eth|wl|wi-?fi)/i

const OVERLAY_INTERFACE = /^(?:tun|tap|utun|tailscale|wg|zt|ppp|ipsec)/i

/** A look at the interfaces takes as long as a request on a connection of its own. */
const FRESH_MS = 1000

/** The subnets that are near wherever they are. */
export const NEARBY: readonly string[] = [...LOOPBACK, ...LINK_LOCAL, ...PRIVATE]

/** Whether an address is in one of {@link NEARBY}. */
export const isNear: (address: string) => boolean = createTest(NEARBY)

const isPrivate = createTest(PRIVATE)

/** RFC 6598: carriers have it too, but no machine of theirs runs this. */
const isSharedSpace = createTest(['100.64.0.0/10'])

const isLinkLocal = createTest(LINK_LOCAL)

/** The addresses of this machine; none where the system refuses to tell, as Android since 13. */
export function readInterfaces(): NetworkInterfaces {
  try {
    return networkInterfaces()
  } catch {
    // Links then need --public-url, of which the start warns; private addresses are near anyway.
    return {}
  }
}

/**
 * Whether `address` is on this machine or on a network beside it: loopback, link-local, private,
 * overlay, or in one of the host's own subnets.
 */
export function isLocalAddress(address: string, readInterfaces: () => NetworkInterfaces): boolean {
  return createLocalTest(readInterfaces, systemClock)(address)
}

/** A test as {@link isLocalAddress}, which reads the interfaces once a second at most. */
export function createLocalTest(
  readInterfaces: () => NetworkInterfaces,
  clock: Pick<Clock, 'monotonic'>,
): (address: string) => boolean {
  const isOwn = readOften(() => createTest(ownSubnets(readInterfaces())), clock)
  return (address) => isNear(address) || isOwn()(address)
}

/** Reads once a second at most, however often it is asked what there is. */
export function readOften<Found>(read: () => Found, clock: Pick<Clock, 'monotonic'>): () => Found {
  let last: { readonly found: Found; readonly at: number } | undefined
  return () => {
    const at = clock.monotonic()
    if (last === undefined || at >= last.at + FRESH_MS) last = { found: read(), at }
    return last.found
  }
}

/**
 * The URLs whose private address this machine does not have; about names, and addresses that others
 * may have taken on for it, nothing can be said.
 */
export function findLostUrls(
  urls: readonly string[],
  interfaces: NetworkInterfaces,
): readonly string[] {
  const own = Object.values(interfaces).flatMap((all) => all?.map(({ address }) => address) ?? [])
  return [...new Set(urls)].filter((url) => {
    // Whoever asks the control listener may put anything into a link.
    if (!URL.canParse(url)) return false
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
    return isIP(host) !== 0 && isPrivate(host) && !own.includes(host)
  })
}

/**
 * The URL by which a phone finds the gateway: the public URL, else the first useful address among
 * those that it is bound to. There always is one; at worst it is the loopback URL with a warning.
 *
 * @param bound What the gateway is bound to; at least one address.
 */
export function chooseBaseUrl(
  bound: readonly HostPort[],
  interfaces: NetworkInterfaces,
  publicUrl: string | undefined,
): LinkBase {
  const [best] = listAddresses(bound, interfaces, publicUrl)
  const isReachable = best !== undefined && best.kind !== 'loopback'
  if (isReachable) return { url: best.url, warning: undefined }
  return { url: loopbackUrl(bound), warning: explain(bound) }
}

/** All URLs by which a phone may find the gateway, as {@link chooseBaseUrl} prefers them. */
export function listAddresses(
  bound: readonly HostPort[],
  interfaces: NetworkInterfaces,
  publicUrl: string | undefined,
): readonly PanelAddress[] {
  const all: readonly PanelAddress[] = [
    ...(publicUrl === undefined ? [] : [{ url: publicUrl, via: '', kind: 'public' } as const]),
    ...reachableAt(bound, interfaces).map((address) => describe(address, interfaces)),
  ]
  const unique = all.filter(({ url }, index) => all.findIndex((one) => one.url === url) === index)
  if (unique.length > 0) return unique
  return [{ url: loopbackUrl(bound), via: '', kind: 'loopback' }]
}

/**
 * The URLs by which a phone may find the gateway with TLS: those that its certificate is good for,
 * by name first, since names stay when addresses change.
 *
 * @param bound What it is bound to; at least one address.
 * @param names Addresses and host names of the certificate.
 */
export function listSecureAddresses(
  bound: readonly HostPort[],
  interfaces: NetworkInterfaces,
  names: readonly string[],
): readonly PanelAddress[] {
  const [first] = bound
  const hosts = names.filter((name) => isIP(name) === 0 && !name.includes('*'))
  const named = first === undefined ? [] : hosts.map((host) => ({ ...first, host }))
  const near = reachableAt(bound, interfaces).filter(({ host }) => names.includes(host))
  return [...named, ...near]
    .filter(({ host }) => !isLoopbackHost(host))
    .map((address) => describe(address, interfaces))
}

/** Whether an interface of this name leads into a VPN or another overlay. */
export function isOverlayInterface(name: string): boolean {
  return OVERLAY_INTERFACE.test(name)
}

/** The URL of a listener on this machine: bound to all addresses, it is spelled 127.0.0.1. */
export function loopbackUrl(bound: readonly HostPort[]): string {
  const [first = { host: '127.0.0.1', port: 0 }] = bound
  const best = bound.find(({ host }) => host === '0.0.0.0') ?? first
  if (!isWildcardHost(best.host)) return formatBaseUrl(best)
  return formatBaseUrl({ host: best.host === '0.0.0.0' ? '127.0.0.1' : '::1', port: best.port })
}

/** A test that takes what a socket says of its other end. */
function createTest(entries: readonly string[]): (address: string) => boolean {
  let test: ((address: string) => boolean) | undefined
  return (text) => {
    // Made when first asked for: a start should not wait for it.
    test ??= createAddressTest(entries)
    // The zone of a link-local address says through which cable, not who.
    return test(text.includes('%') ? text.replace(/%.*$/, '') : text)
  }
}

/** Loopback, or link-local: an address that means nothing without a zone cannot be in a URL. */
function isTooNear(host: string): boolean {
  return isLoopbackHost(host) || isLinkLocal(host)
}

/** Where the gateway is bound to that a phone may reach, the best first. */
function reachableAt(bound: readonly HostPort[], interfaces: NetworkInterfaces) {
  const named = bound.filter(({ host }) => !isWildcardHost(host) && !isTooNear(host))
  const wildcards = bound.filter(({ host }) => isWildcardHost(host))
  const addresses = wildcards.length === 0 ? [] : usefulAddresses(interfaces)
  const everywhere = wildcards.flatMap((wildcard) =>
    addresses
      .filter((address) => isIPv6Host(address) === isIPv6Host(wildcard.host))
      .map((address) => ({ ...wildcard, host: address })),
  )
  everywhere.sort((a, b) => addresses.indexOf(a.host) - addresses.indexOf(b.host))
  return [...named, ...everywhere]
}

function describe(address: HostPort, interfaces: NetworkInterfaces): PanelAddress {
  const { host } = address
  const [via = ''] =
    Object.entries(interfaces).find(([, infos = []]) =>
      infos.some((info) => info.address === host),
    ) ?? []
  const isOverlay = isOverlayInterface(via) || isSharedSpace(host)
  // A name that somebody bound the gateway to is most likely one of their own network.
  const isNearby = isPrivate(host) || isIP(host) === 0
  const kind = isOverlay ? 'overlay' : isNearby ? 'lan' : 'public'
  return { url: formatBaseUrl(address), via, kind }
}

/** Private addresses of this machine, the likeliest first. */
export function usefulAddresses(interfaces: NetworkInterfaces): readonly string[] {
  return Object.entries(interfaces)
    .filter(([name]) => !VIRTUAL_INTERFACE.test(name))
    .flatMap(([name, infos = []]) => infos.map((info) => ({ ...info, name })))
    .filter(({ address, internal }) => !internal && isPrivate(address))
    .map(({ address, name }) => ({ address, rank: rank(address, name) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ address }) => address)
}

/** IPv4 first, as most phones and all people type it; then cables and radio before overlays. */
function rank(address: string, name: string): number {
  const medium = PHYSICAL_INTERFACE.test(name) ? 0 : OVERLAY_INTERFACE.test(name) ? 2 : 1
  return (isIPv6Host(address) ? 3 : 0) + medium
}

function explain(bound: readonly HostPort[]): string {
  const what = bound.some(({ host }) => isWildcardHost(host))
    ? 'This machine has no LAN address'
    : 'The gateway listens on this machine only'
  const fix = 'set --public-url or --listen'
  return `${what}, at ${loopbackUrl(bound)}: phones cannot reach this URL; ${fix}`
}

/** Subnets of every interface; one without a prefix would be the whole internet. */
function ownSubnets(interfaces: NetworkInterfaces): readonly string[] {
  return Object.values(interfaces)
    .flatMap((infos = []) => infos.map(({ cidr }) => cidr))
    .filter((cidr): cidr is string => typeof cidr === 'string' && !cidr.endsWith('/0'))
}
