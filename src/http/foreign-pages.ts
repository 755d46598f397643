/**
 * Keeps web pages of other sites from sending requests with a login that the browser remembers.
 *
 * Browsers say where a request comes from; programs say nothing, and pass. Reading is the business
 * of the same-origin policy: we never send a CORS header.
 * @module
 */

import type { Call } from './call.ts'
import { HttpError } from './http-error.ts'

/** The part of a call that the check needs. */
export type PageCall = Pick<Call, 'request' | 'method' | 'host' | 'asksForWebSocket'>

/**
 * Makes the check.
 *
 * @param publicUrl Base URL under which browsers may know us, besides the address that they ask.
 * @returns A function that throws {@link HttpError} `FORBIDDEN_ORIGIN`.
 */
export function refuseForeignPages(publicUrl: string | undefined): (call: PageCall) => void {
  const publicBase = publicUrl === undefined ? undefined : new URL(publicUrl)

  return ({ request, method, host, asksForWebSocket }) => {
    // No browser keeps a page from reading what comes over a WebSocket.
    if ((method === 'GET' || method === 'HEAD') && !asksForWebSocket) return
    const { origin } = request.headers
    if (origin === undefined) {
      if (request.headers['sec-fetch-site'] === 'cross-site') throw forbidden()
      return
    }
    // Extensions have schemes of their own, which a page cannot claim.
    if (origin !== 'null' && !/^https?:/i.test(origin)) return
    if (!isOwnOrigin(origin, host, publicBase)) throw forbidden()
  }
}

/**
 * We speak plain HTTP ourselves; what a proxy in front of us speaks only the public URL tells. A
 * plain page of a host that is known by https is one that anybody on the way could have written.
 */
function isOwnOrigin(
  origin: string,
  host: string | undefined,
  publicBase: URL | undefined,
): boolean {
  if (origin === publicBase?.origin) return true
  if (host === undefined || host.toLowerCase() === publicBase?.host) return false
  return origin === originOf(host)
}

function originOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).origin : undefined
}

function forbidden(): HttpError {
  return new HttpError('FORBIDDEN_ORIGIN')
}
