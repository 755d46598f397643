/**
 * The endpoints that say "I am here": nothing of the clipboard, nothing of the disk.
 * @module
 */

import type { Handler } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { json, text, type Reply } from '../http/reply.ts'
import { constantReply } from '../http/reply-headers.ts'
import type { Clock } from '../lib/clock.ts'

const ALIVE: Reply = constantReply({ status: 204 })

/**
 * `GET /healthz`, public: the listener is live and accepts requests. Constant cost; tells nothing
 * else, to anybody.
 */
export function healthz(isDraining: () => boolean): Handler {
  return () => {
    if (isDraining()) throw new HttpError('DRAINING')
    return ALIVE
  }
}

/** `GET /`: the credentials are right. */
export function root(): Handler {
  const reply = text('Server is running.')
  return () => reply
}

/** `GET /api/time`: a JSON string, ISO 8601 in UTC. */
export function time(clock: Clock): Handler {
  return () => json(new Date(clock.now()).toISOString())
}

/** `GET /api/version` and `GET /version`: a JSON string, `clipgate <semver>`. */
export function version(semver: string): Handler {
  const reply = json(`clipgate ${semver}`)
  return () => reply
}
