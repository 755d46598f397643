/**
 * The control listener: a function from the ports `Admin` and `Panel` to a `node:http` listener.
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
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Panel } from '../ports/panel.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import { createAuthorize, type Owner } from './authorize.ts'
import { createControlRoutes, createPublicControlRoutes } from './control-routes.ts'
import { PanelEvents } from './panel-events.ts'
import { createPanelRoutes, createPublicPanelRoutes } from './panel-routes.ts'
import { PanelSessions } from './panel-sessions.ts'
import { readPanelState } from './panel-state.ts'
import { PanelTickets } from './panel-tickets.ts'

export interface ControlOptions {
  readonly admin: Admin
  readonly panel: Panel
  readonly token: string
  /** Where the key of the panel's sessions is kept. */
  readonly keyFile: PrivateFile
  readonly clock: Clock
  readonly logger: Logger
}

/** The listener, and a hold on the event streams that it has opened. */
export interface Control extends RequestListener {
  /** Ends all event streams. To be called when the daemon goes: it has nothing to tell any more. */
  closeStreams(): void
}

/** @returns A listener for `request` *and* `checkContinue` events. */
export function createControl(options: ControlOptions): Control {
  const { admin, panel, token, keyFile, clock, logger } = options
  const tickets = new PanelTickets(clock)
  const sessions = new PanelSessions({ keyFile, clock, logger })
  const events = new PanelEvents({
    readState: () => readPanelState(admin, panel),
    onChange: (listener) => panel.onChange(listener),
    clock,
    logger,
  })
  const now = (): number => clock.now()
  const listener = createListener<Owner>({
    publicRoutes: [...createPublicControlRoutes(), ...createPublicPanelRoutes({ tickets, sessions })],
    routes: [
      ...createControlRoutes(admin),
      ...createPanelRoutes({ admin, panel, tickets, sessions, events, now }),
    ],
    authenticate: createAuthorize(token, sessions),
    toHttpError,
    onFailure: ({ cause }, id) => {
      logger.error('A control request failed', { id, ...describeFailure(cause) })
    },
  })
  return Object.assign(listener, { closeStreams: () => events.close() })
}

function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown
  return new HttpError(isShortage(thrown) ? 'OVERLOADED' : 'INTERNAL', { cause: thrown })
}
