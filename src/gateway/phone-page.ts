/**
 * `/phone`: a page that makes a phone with nothing installed a client. It is for everybody, and
 * holds nothing of the clipboard; what it does it does by the protocol, as any client.
 * @module
 */

import { route, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { pageRoutes } from '../http/page-files.ts'
import type { RefusedRequest } from '../http/listener.ts'
import type { Reply } from '../http/reply.ts'
import type { GatewayOptions } from './gateway-ports.ts'

/** Directives for what works where browsers trust the address: a manifest, and a worker. */
const POLICY = ["manifest-src 'self'", "worker-src 'self'"]

/** The files of the page, for anybody. */
export function phonePageRoutes({
  isDraining,
}: Pick<GatewayOptions, 'isDraining'> = {}): readonly Route<undefined>[] {
  return pageRoutes({
    name: 'phone',
    files: [
      ...['phone.js', 'code.js', 'share.js', 'phone.css', 'icon.svg', 'app.webmanifest'],
      ...['icon-192.png', 'icon-512.png', 'icon-maskable.png', 'apple-touch-icon.png'],
    ],
    at: '/phone',
    below: '/phone/',
    policy: POLICY,
    check: () => {
      if (isDraining?.() === true) throw new HttpError('DRAINING')
    },
  })
}

/** Says to anybody that there is no page here: else browsers ask for a password. */
export const NO_PHONE_PAGE: Route<undefined> = route('GET', '/phone', () => {
  throw new HttpError('NOT_FOUND')
})

/** No browser knows the scheme, so none asks for a password. */
const CHALLENGE = ['WWW-Authenticate', 'Scan realm="clipgate"']

/** That page has the words, in the language of the browser. */
const WAY = `<!doctype html>
<html lang="en">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="0;url=phone">
<title>clipgate</title>
<a href="phone">Open the page for phones</a>
`

/** Leads on who types the bare address into a browser; programs are told the problem. */
export function wayToPage(
  { code, status }: HttpError,
  { method, path, request }: RefusedRequest,
): Reply | undefined {
  const isBare = path === '/' && (method === 'GET' || method === 'HEAD')
  const isPerson = /\btext\/html\b/i.test(request.headers.accept ?? '')
  if (code !== 'UNAUTHORIZED' || !isBare || !isPerson) return undefined
  if (request.headers.authorization !== undefined) return undefined
  const policy = ['Content-Security-Policy', "default-src 'none'"]
  const headers = ['Content-Type', 'text/html; charset=utf-8', ...policy, ...CHALLENGE]
  return { status, headers, body: WAY }
}
