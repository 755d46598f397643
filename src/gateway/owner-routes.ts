/**
 * The endpoints of the protocol that commands on the own machine use, for another listener, which
 * says who may: those by which items come and go, and that tell of changes.
 *
 * Whoever is let in there is no device, and cannot be shut out: `isValid` of the devices has to
 * know them.
 * @module
 */

import { OWNER_ID, type Owner } from '../core/owner.ts'
import type { Call, Handler, Route } from '../http/call.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Principal } from '../ports/device-registry.ts'
import type { RecentItems } from '../ports/panel.ts'
import { DeviceStreams } from './device-streams.ts'
import { toHttpError } from './domain-errors.ts'
import type { GatewayOptions, GatewayPorts } from './gateway-ports.ts'
import { createDeps, itemRoutes } from './routes.ts'
import { Tickets } from './tickets.ts'

/** Where the endpoints are, below the base URL of the other listener. */
export const OWNER_PATH = '/clipboard'

/** Each `clipgate watch` has a stream. */
const MAX_STREAMS = 16

/** Tickets are for the panel: commands save files by themselves. */
const OWNER: Owner = { kind: 'owner', id: OWNER_ID, at: 'ticket' }

/** The endpoints, and a hold on what they have given out. */
export interface OwnerRoutes {
  readonly routes: readonly Route<Owner>[]
  /** Given to the pages of the panel. */
  readonly pages: Pick<Tickets<Owner>, 'holderOf'> & {
    /** Ends their tickets and event streams. */
    signOut(): void
  }
  /** Ends all event streams. */
  closeStreams(): void
}

/** Makes the endpoints. */
export function createOwnerRoutes(
  ports: GatewayPorts,
  options: Pick<GatewayOptions, 'maxFileBytes' | 'maxMetadataBytes' | 'heartbeatMs'> & {
    readonly recent?: Pick<RecentItems, 'list'>
  },
): OwnerRoutes {
  const { heartbeatMs, recent } = options
  const onSignOut = new Subscribers()
  const both = { ...ports, heartbeatMs, maxPerDevice: MAX_STREAMS }
  const ofCommands = new DeviceStreams(both)
  const ofPages = new DeviceStreams({
    ...both,
    devices: {
      isValid: (login) => ports.devices.isValid(login),
      onCredentialGone: (listener) => onSignOut.add(() => void listener(OWNER_ID)),
    },
  })
  const streams: Pick<DeviceStreams, 'open'> = {
    open(principal, wire) {
      const isPage = principal.kind === 'owner' && principal.at === 'panel'
      const own = isPage ? ofPages : ofCommands
      own.open(principal, wire)
    },
  }
  const rows = itemRoutes(createDeps(ports, options), streams, {
    dialects: ['sync'],
    hasPrefix: true,
  })
  const tickets = new Tickets<Owner>(ports, {
    at: `${OWNER_PATH}/tickets`,
    find: (id) => (id === OWNER_ID ? OWNER : undefined),
    recentOf: () => recent?.list ?? [],
  })
  const routes = [...rows.map(moved), ...tickets.routes]
  return {
    routes,
    pages: {
      holderOf: (call) => tickets.holderOf(call),
      signOut() {
        tickets.endAll()
        onSignOut.notify()
      },
    },
    closeStreams() {
      ofCommands.close()
      ofPages.close()
    },
  }
}

/** The same endpoint below {@link OWNER_PATH}, with the errors of this protocol. */
function moved({ pattern, handler, ...row }: Route<Principal>): Route<Principal> {
  // The parameters are those of the pattern, of which the prefix has none.
  const answer = handler as Handler<Principal>
  return {
    ...row,
    pattern: `${OWNER_PATH}${pattern}`,
    handler: async (call: Call<Principal>) => {
      try {
        return await answer(call)
      } catch (error) {
        throw toHttpError(error)
      }
    },
  }
}
