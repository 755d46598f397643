/**
 * The control listener: a function from the ports `Admin` and `Panel` to a `node:http` listener.
 *
 * It belongs on loopback only; who binds it sees to that.
 * @module
 */

import type { RequestListener } from 'node:http'
import type { Call, Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { createListener } from '../http/listener.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { isProgramGone } from '../lib/program-files.ts'
import { isShortage } from '../lib/system-error.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Owner } from '../core/owner.ts'
import { checkOwnHost, createAuthorize } from './authorize.ts'
import { PanelToken } from './control-token.ts'
import {
  createControlRoutes,
  createHealthRoute,
  createPanelFileRoutes,
  type ControlParts,
} from './control-routes.ts'
import { PanelEvents } from './panel-events.ts'

/** The parts behind a control listener. */
export interface ControlOptions extends Pick<ControlParts, 'admin' | 'panel' | 'onAddressGiven'> {
  /** The token of the commands. */
  readonly token: string
  /** Further routes of the owner, such as those of the clipboard itself. */
  readonly routes?: readonly Route<Owner>[] | undefined
  /** Pages are given these, so that the browser can save a file by itself. */
  readonly tickets?: OwnerTickets | undefined
  /** Why the disk takes nothing, or no upload. */
  readonly diskTrouble?: (() => Promise<string | undefined>) | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** Paths that prove by themselves that the owner was given them. */
export interface OwnerTickets {
  /** @throws {HttpError} `NOT_FOUND` when the ticket is no good any more. */
  holderOf(call: Pick<Call, 'method' | 'path'>): Owner | undefined
  endAll(): void
}

/** A control listener. */
export interface Control {
  /** For `request` *and* `checkContinue` events. */
  readonly listener: RequestListener
  /** Ends all event streams. To be called when the daemon goes: it has nothing to tell any more. */
  closeStreams(): void
}

/** Makes the control listener of a daemon. */
export function createControl(options: ControlOptions): Control {
  const { admin, panel, token, routes = [], tickets, onAddressGiven, clock, logger } = options
  const { diskTrouble = async () => undefined } = options
  const panelToken = new PanelToken()
  const events = new PanelEvents({ admin, panel, clock, logger })
  const now = (): number => clock.now()
  const authorize = createAuthorize(token, panelToken)
  const listener = createListener<Owner>({
    publicRoutes: [createHealthRoute(diskTrouble), ...createPanelFileRoutes()],
    routes: [
      ...createControlRoutes({
        ...{ admin, panel, panelToken, events, logger, now, onAddressGiven },
        onSignOut: () => tickets?.endAll(),
      }),
      ...routes,
    ],
    authenticate: (call) => {
      checkOwnHost(call)
      return tickets?.holderOf(call) ?? authorize(call)
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
