/**
 * The control listener: a function from the port `Admin` to a `node:http` listener.
 *
 * It belongs on loopback only; who binds it sees to that.
 *
 * @module
 */

import type { RequestListener } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import { createListener } from '../http/listener.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { isShortage } from '../lib/system-error.ts'
import type { Admin } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import { createAuthorize } from './authorize.ts'
import { createControlRoutes, createPublicControlRoutes } from './control-routes.ts'

export interface ControlOptions {
  readonly admin: Admin
  readonly token: string
  readonly logger: Logger
}

/** @returns A listener for `request` *and* `checkContinue` events. */
export function createControl({ admin, token, logger }: ControlOptions): RequestListener {
  return createListener<'owner'>({
    publicRoutes: createPublicControlRoutes(),
    routes: createControlRoutes(admin),
    authenticate: createAuthorize(token),
    toHttpError,
    onFailure: ({ cause }, id) => {
      logger.error('A control request failed', { id, ...describeFailure(cause) })
    },
  })
}

function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown
  return new HttpError(isShortage(thrown) ? 'OVERLOADED' : 'INTERNAL', { cause: thrown })
}
