/**
 * The control listener: a function from the ports `Admin` and `Panel` to a `node:http` listener.
 *
 * It belongs on loopback only; who binds it sees to that.
 * @module
 */

import type { RequestListener } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import { createListener } from '../http/listener.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { isProgramGone } from '../lib/program-files.ts'
import { isShortage } from '../lib/system-error.ts'
import type { Owner } from '../core/owner.ts'
import { checkOwnHost, createAuthorize } from './authorize.ts'
import { PanelToken } from './control-token.ts'
import {
  createControlRoutes,
  createHealthRoute,
  createPanelFileRoutes,
  type ControlOptions,
} from './control-routes.ts'
import { PanelEvents } from './panel-events.ts'

/** A control listener. */
export interface Control {
  /** For `request` *and* `checkContinue` events. */
  readonly listener: RequestListener
  /** Ends all event streams. To be called when the daemon goes: it has nothing to tell any more. */
  closeStreams(): void
}

/** Makes the control listener of a daemon. */
export function createControl(options: ControlOptions): Control {
  const { token, routes = [], pages, clock, logger } = options
  const { diskTrouble = async () => undefined } = options
  const panelToken = new PanelToken()
  const events = new PanelEvents(options)
  const authorize = createAuthorize(token, panelToken)

  async function signOut(): Promise<void> {
    panelToken.renew()
    pages?.signOut()
    events.endAll()
    await listener.cut('ticket')
  }

  const listener = createListener<Owner>({
    publicRoutes: [createHealthRoute(diskTrouble), ...createPanelFileRoutes()],
    routes: [...createControlRoutes({ ...options, signOut }, panelToken, events), ...routes],
    nameOf: ({ at }) => at,
    authenticate: (call) => {
      checkOwnHost(call)
      return pages?.holderOf(call) ?? authorize(call)
    },
    clock,
    toHttpError,
    onFailure: ({ cause }, id) => {
      logger.error('A control request failed', { id, ...describeFailure(cause) })
    },
  })
  return { listener, closeStreams: () => events.close() }
}

function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown
  const isPassing = isShortage(thrown) || isProgramGone()
  return new HttpError(isPassing ? 'OVERLOADED' : 'INTERNAL', { cause: thrown })
}
