/** `HOST:PORT`, as settings and messages spell where a listener listens. @module */

import { isIPv4, isIPv6 } from 'node:net'

/** Where a listener listens, or should. */
export interface HostPort {
  /** An address or a host name; IPv6 without brackets. */
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly isSecure?: boolean | undefined
}

const HOST_PORT = /^(?:\[([^[\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/

// RFC 1123; a last label of digits only would be a broken IPv4 address.
const HOST_NAME =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** Parses `host:port` and `[IPv6]:port`; `undefined` when it is neither. */
export function parseHostPort(text: string): HostPort | undefined {
  const [, bracketed, bare = '', digits] = HOST_PORT.exec(text) ?? []
  const port = Number(digits)
  if (!(port <= 65_535)) return undefined
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined
  return isIPv4(bare) || HOST_NAME.test(bare) ? { host: bare, port } : undefined
}

/** Undoes {@link parseHostPort}. */
export function formatHostPort({ host, port }: HostPort): string {
  return `${isIPv6Host(host) ? `[${host}]` : host}:${port}`
}

/** The address as the start of a URL, where an IPv6 zone has no place. */
export function formatBaseUrl({ host, port, isSecure }: HostPort): string {
  const scheme = isSecure === true ? 'https' : 'http'
  return `${scheme}://${formatHostPort({ host: host.replace(/%.*$/, ''), port })}`
}

/** Whether `host` can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  if (isIPv4(host)) return host.startsWith('127.')
  return host === '::1' || host.toLowerCase() === 'localhost'
}

/** Whether `host` stands for all addresses of its family. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || (isIPv6Host(host) && /^[0:]+$/.test(host))
}

/**
 * Whether a host that is known to be valid is an IPv6 address. The first call of `net.isIPv6`
 * compiles an expression that takes a tenth of the start of the daemon.
 */
export function isIPv6Host(host: string): boolean {
  return host.includes(':')
}
