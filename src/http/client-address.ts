/**
 * Who is at the other end, when proxies may stand between.
 *
 * `X-Forwarded-For` is what anybody wrote into it; only the part that trusted proxies appended
 * counts.
 * @module
 */

import { BlockList, isIP, isIPv6 } from 'node:net'
import { Lru } from '../lib/lru.ts'

/** `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]:4711`, and in quotes. */
const HOP = /^"?(?:\[([0-9A-Fa-f:.]+)\](?::\d+)?|([\d.]+)(?::\d+)?|([0-9A-Fa-f:.]+))"?$/

/** Clients come again, and looking through a list takes as long as parsing their request. */
const MAX_REMEMBERED = 256

/** Decides which addresses belong to proxies of ours. */
export type AddressTest = (address: string) => boolean

/**
 * Makes a test for a list of addresses and subnets: `127.0.0.1`, `10.0.0.0/8`, `fd00::/8`.
 *
 * @throws {Error} naming the entry that is neither.
 */
export function createAddressTest(entries: readonly string[]): AddressTest {
  if (entries.length === 0) return () => false
  const list = new BlockList()
  for (const entry of entries) addEntry(list, entry)
  const answers = new Lru<string, boolean>(MAX_REMEMBERED)
  return (address) => {
    const known = answers.get(address)
    if (known !== undefined) return known
    const answer = list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    answers.set(address, answer)
    return answer
  }
}

/**
 * The address that the last trusted proxy saw: the rightmost one that is not itself trusted.
 *
 * @param remote The other end of the connection.
 * @param forwarded All `X-Forwarded-For` headers, joined by commas.
 */
export function findClientAddress(
  remote: string | undefined,
  forwarded: string | undefined,
  isTrusted: AddressTest,
): string | undefined {
  let address = normaliseAddress(remote)
  if (forwarded === undefined) return address
  for (const hop of forwarded.split(',').reverse()) {
    if (address === undefined || !isTrusted(address)) return address
    const parsed = parseHop(hop.trim())
    // Whatever stands to the left of something unreadable is not worth more.
    if (parsed === undefined) return address
    address = parsed
  }
  return address
}

/** A socket for both families spells IPv4 addresses `::ffff:192.0.2.7`. */
export function normaliseAddress(address: string | undefined): string | undefined {
  return address?.startsWith('::ffff:') === true && address.includes('.')
    ? address.slice(7)
    : address
}

function parseHop(hop: string): string | undefined {
  const [, bracketed, v4, v6] = HOP.exec(hop) ?? []
  const address = bracketed ?? v4 ?? v6
  return address === undefined || isIP(address) === 0 ? undefined : normaliseAddress(address)
}

function addEntry(list: BlockList, entry: string): void {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  const type = family === 6 ? 'ipv6' : 'ipv4'
  const allBits = family === 6 ? 128 : 32
  // A single address is the smallest subnet.
  const bits = /^\d+$/.test(prefix ?? `${allBits}`) ? Number(prefix ?? allBits) : NaN
  if (family === 0 || !(bits <= allBits) || rest.length > 0) {
    throw new Error(`"${entry}" is neither an address nor a subnet`)
  }
  list.addSubnet(address, bits, type)
}
