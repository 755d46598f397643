/**
 * Keeps web pages of other sites from sending requests with a login that the browser remembers.
 *
 * Browsers say where a request comes from; programs say nothing, and pass. That a page reads none
 * of our answers is the business of the same-origin policy, as we send no CORS header; but what
 * it asks for costs, and its event streams end those of the device. So it may link to us, no more.
 * @module
 */

import type { Call } from './call.ts'
import { HttpError } from './http-error.ts'

/** The part of a call that the check needs. */
export type PageCall = Pick<Call, 'request' | 'host'>

/** Other ports of our host, and hosts beside it, are of the same site and serve what they like. */
const FOREIGN_SITES: readonly unknown[] = ['cross-site', 'same-site']

/** Extensions have schemes of their own, which a page cannot claim. */
const EXTENSION = /^[a-z-]+-extension:\/\//i

/**
 * Makes the check.
 *
 * @param publicUrl Base URL under which browsers may know us, besides the address that they ask.
 * @returns A function that throws {@link HttpError} `FORBIDDEN_ORIGIN`.
 */
export function refuseForeignPages(publicUrl: string | undefined): (call: PageCall) => void {
  const publicBase = publicUrl === undefined ? undefined : new URL(publicUrl)

  return ({ request: { headers, method, socket }, host }) => {
    const { origin } = headers
    if (origin === undefined) {
      const isLink = method === 'GET' && headers['sec-fetch-dest'] === 'document'
      if (FOREIGN_SITES.includes(headers['sec-fetch-site']) && !isLink) throw forbidden()
      return
    }
    const scheme = 'encrypted' in socket ? 'https' : 'http'
    if (!EXTENSION.test(origin) && !isOwnOrigin(origin, scheme, host, publicBase)) throw forbidden()
  }
}

/**
 * We know what we speak ourselves; what a proxy in front of us speaks only the public URL tells. A
 * plain page of a host that is known by https is one that anybody on the way could have written.
 */
function isOwnOrigin(
  origin: string,
  scheme: 'http' | 'https',
  host: string | undefined,
  publicBase: URL | undefined,
): boolean {
  if (origin === publicBase?.origin) return true
  if (host === undefined || host.toLowerCase() === publicBase?.host) return false
  return origin === originOf(`${scheme}://${host}`)
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}

function forbidden(): HttpError {
  return new HttpError('FORBIDDEN_ORIGIN')
}
