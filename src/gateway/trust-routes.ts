/** `/phone/trust` and what is below it, for everybody and with no script. @module */

import { route, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import type { FlatHeaders, Reply } from '../http/reply.ts'
import type { TrustFile } from '../ports/trust-file.ts'

const HEADERS: FlatHeaders = [
  ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
]

/** @param find Finds what stands at a path below `/phone/trust`; 404 where that is nothing. */
export function trustRoutes(
  find: (path: string) => TrustFile | undefined,
): readonly Route<undefined>[] {
  const reply = (path: string): Reply => {
    const file = find(path)
    if (file === undefined) throw new HttpError('NOT_FOUND')
    return { status: 200, headers: ['Content-Type', file.mediaType, ...HEADERS], body: file.body }
  }
  return [
    route('GET', '/phone/trust', () => reply('')),
    route('GET', '/phone/trust/{name}', ({ params }) => reply(params.name)),
  ]
}
