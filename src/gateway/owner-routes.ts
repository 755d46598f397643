/**
 * The endpoints of the protocol that commands on the own machine use, for another listener, which
 * says who may: those that read the current item, push one, and tell of changes.
 *
 * Whoever is let in there is no device, and cannot be shut out: `isValid` of the devices has to
 * know them.
 * @module
 */

import { MAX_FILE_BYTES, MAX_METADATA_BYTES } from '../core/limits.ts'
import { route, type Call, type Handler, type Route } from '../http/call.ts'
import { EVENT_STREAM_HEADERS } from '../http/event-stream.ts'
import type { Device } from '../ports/device-registry.ts'
import { DeviceStreams } from './device-streams.ts'
import { Dialects, DOCUMENT_PATHS } from './dialect.ts'
import { getDocument, putDocument } from './document.ts'
import { toHttpError } from './domain-errors.ts'
import { getFile, putFile } from './file.ts'
import type { GatewayOptions, GatewayPorts } from './gateway-ports.ts'
import { RememberedRecords } from './remembered-records.ts'

/** Where the endpoints are, below the base URL of the other listener. */
export const OWNER_PATH = '/clipboard'

/** Each `clipgate watch` has a stream. */
const MAX_STREAMS = 16

/** The endpoints, and a hold on the event streams that they have opened. */
export interface OwnerRoutes {
  readonly routes: readonly Route<Device>[]
  /** Ends all event streams. */
  closeStreams(): void
}

/** Makes the endpoints. */
export function createOwnerRoutes(
  ports: GatewayPorts,
  options: Pick<GatewayOptions, 'maxFileBytes' | 'maxMetadataBytes' | 'heartbeatMs'>,
): OwnerRoutes {
  const { maxFileBytes = MAX_FILE_BYTES, maxMetadataBytes = MAX_METADATA_BYTES } = options
  const streams = new DeviceStreams({
    ...ports,
    heartbeatMs: options.heartbeatMs,
    maxPerDevice: MAX_STREAMS,
  })
  const maxBody = maxFileBytes + maxMetadataBytes
  const limits = { maxBody, maxFileBytes, maxMetadataBytes }
  const own = { records: new RememberedRecords(), dialects: new Dialects(ports) }
  const deps = { ...ports, ...limits, ...own }
  const events: Handler<Device> = ({ principal }) => ({
    status: 200,
    headers: EVENT_STREAM_HEADERS,
    body: { attach: (wire) => streams.open(principal, wire) },
  })
  const rows = [
    route('GET', '/api/sse/clipboard', events),
    route('GET', DOCUMENT_PATHS.sync, getDocument(deps, 'sync')),
    route('PUT', DOCUMENT_PATHS.sync, putDocument(deps), { maxBody: maxMetadataBytes }),
    route('GET', '/file/{dataName}', getFile(deps)),
    route('PUT', '/file/{dataName}', putFile({ ...deps, hasPrefix: true }), {
      maxBody: maxFileBytes,
    }),
  ]
  return { routes: rows.map(moved), closeStreams: () => streams.close() }
}

/** The same endpoint below {@link OWNER_PATH}, with the errors of this protocol. */
function moved({ pattern, handler, ...row }: Route<Device>): Route<Device> {
  // The parameters are those of the pattern, of which the prefix has none.
  const answer = handler as Handler<Device>
  return {
    ...row,
    pattern: `${OWNER_PATH}${pattern}`,
    handler: async (call: Call<Device>) => {
      try {
        return await answer(call)
      } catch (error) {
        throw toHttpError(error)
      }
    },
  }
}
