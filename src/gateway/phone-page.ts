/**
 * `/phone`: a page that makes a phone with nothing installed a client, and what is below it. All is
 * for everybody, and holds nothing of the clipboard; what the page does it does by the protocol, as
 * any client.
 * @module
 */

import { route, type Route } from '../http/call.ts'
import { found, HttpError } from '../http/http-error.ts'
import { pageRoutes, withoutSlash } from '../http/page-files.ts'
import type { Reply } from '../http/reply.ts'
import type { TrustFile } from '../ports/trust-file.ts'
import type { GatewayOptions } from './gateway-ports.ts'

/** Directives for what works where browsers trust the address: a manifest, and a worker. */
const POLICY = ["manifest-src 'self'", "worker-src 'self'"]

/** The files of the page, for anybody. */
export function phonePageRoutes(): readonly Route<undefined>[] {
  return pageRoutes({
    name: 'phone',
    files: [
      ...['phone.js', 'code.js', 'share.js', 'phone.css', 'icon.svg', 'app.webmanifest'],
      ...['icon-192.png', 'icon-512.png', 'icon-maskable.png', 'apple-touch-icon.png'],
    ],
    at: '/phone',
    below: '/phone/',
    policy: POLICY,
  })
}

/** Says to anybody that there is no page here: else browsers ask for a password. */
export const NO_PHONE_PAGE: Route<undefined> = route('GET', '/phone', () => {
  throw new HttpError('NOT_FOUND')
})

/** `/phone/trust` and what is below it, with no script; 404 where nothing is to be trusted. */
export function trustRoutes({
  trust = () => undefined,
}: Pick<GatewayOptions, 'trust'> = {}): readonly Route<undefined>[] {
  const reply = withoutSlash<{ name?: string }>(({ request: { socket }, host, params }) => {
    return fileReply(found(trust(params.name ?? '', { isSecure: 'encrypted' in socket, host })))
  })
  return [route('GET', '/phone/trust', reply), route('GET', '/phone/trust/{name}', reply)]
}

/** The answer that a page for everybody is. */
export function fileReply({ mediaType, headers, body }: TrustFile, status = 200): Reply {
  return { status, headers: ['Content-Type', mediaType, ...headers], body }
}
