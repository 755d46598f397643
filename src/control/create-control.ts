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
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Panel } from '../ports/panel.ts'
import { createAuthorize, type Owner } from './authorize.ts'
import { createControlRoutes, createPublicControlRoutes } from './control-routes.ts'
import { PanelEvents } from './panel-events.ts'
import { createPanelFileRoutes } from './panel-files.ts'
import { createPanelRoutes } from './panel-routes.ts'
import { readPanelState } from './panel-state.ts'
import { PanelToken } from './panel-token.ts'

export interface ControlOptions {
  readonly admin: Admin
  readonly panel: Panel
  /** The token of the commands. */
  readonly token: string
  /** Told when somebody was given the address that opens the panel. */
  readonly onAddressGiven?: () => void
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
  const { admin, panel, token, onAddressGiven, clock, logger } = options
  const panelToken = new PanelToken()
  const events = new PanelEvents({
    readState: () => readPanelState(admin, panel),
    onChange: (listener) => panel.onChange(listener),
    clock,
    logger,
  })
  const now = (): number => clock.now()
  const listener = createListener<Owner>({
    publicRoutes: [...createPublicControlRoutes(), ...createPanelFileRoutes()],
    routes: [
      ...createControlRoutes(admin),
      ...createPanelRoutes({ admin, panel, panelToken, onAddressGiven, events, now }),
    ],
    authenticate: createAuthorize(token, panelToken),
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
