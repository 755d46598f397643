/**
 * `/phone`: a page that makes a phone with nothing installed a client. It is for everybody, and
 * holds nothing of the clipboard; what it does it does by the protocol, as any client.
 * @module
 */

import { route, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { pageRoutes } from '../http/page-files.ts'
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
