/** `/phone/trust` and what is below it, for everybody and with no script. @module */

import { route, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { withoutSlash } from '../http/page-files.ts'
import type { Reply } from '../http/reply.ts'
import type { TrustFile } from '../ports/trust-file.ts'
import type { GatewayOptions } from './gateway-ports.ts'

/** The routes; 404 where nothing is to be trusted. */
export function trustRoutes({
  trust = () => undefined,
  isDraining,
}: Pick<GatewayOptions, 'trust' | 'isDraining'> = {}): readonly Route<undefined>[] {
  const reply = withoutSlash<{ name?: string }>(({ request: { socket }, host, params }) => {
    if (isDraining?.() === true) throw new HttpError('DRAINING')
    const file = trust(params.name ?? '', { isSecure: 'encrypted' in socket, host })
    if (file === undefined) throw new HttpError('NOT_FOUND')
    return fileReply(file)
  })
  return [route('GET', '/phone/trust', reply), route('GET', '/phone/trust/{name}', reply)]
}

/** The answer that a page for everybody is. */
export function fileReply({ mediaType, headers, body }: TrustFile, status = 200): Reply {
  return { status, headers: ['Content-Type', mediaType, ...headers], body }
}
