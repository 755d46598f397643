/** `/phone/trust` and what is below it, for everybody and with no script. @module */

import { route, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import type { FlatHeaders, Reply } from '../http/reply.ts'
import type { GatewayOptions } from './gateway-ports.ts'

const HEADERS: FlatHeaders = [
  ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
]

/** The routes; 404 where nothing is to be trusted. */
export function trustRoutes({
  trust = () => undefined,
  isDraining,
}: Pick<GatewayOptions, 'trust' | 'isDraining'> = {}): readonly Route<undefined>[] {
  const reply = (path: string): Reply => {
    if (isDraining?.() === true) throw new HttpError('DRAINING')
    const file = trust(path)
    if (file === undefined) throw new HttpError('NOT_FOUND')
    return { status: 200, headers: ['Content-Type', file.mediaType, ...HEADERS], body: file.body }
  }
  return [
    route('GET', '/phone/trust', () => reply('')),
    route('GET', '/phone/trust/{name}', ({ params }) => reply(params.name)),
  ]
}
