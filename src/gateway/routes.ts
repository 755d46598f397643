/**
 * The endpoint table of the protocol; docs/protocol.md has the same one for people.
 * @module
 */

import { MAX_FILE_BYTES, MAX_METADATA_BYTES } from '../core/limits.ts'
import { route, type Route } from '../http/call.ts'
import { empty } from '../http/reply.ts'
import type { Device, Dialect } from '../ports/device-registry.ts'
import type { GatewayOptions, GatewayPorts } from './gateway-ports.ts'
import { DOCUMENT_PATHS } from './dialect.ts'
import { getDocument, putDocument } from './document.ts'
import { getEvents, type EventStreams } from './event-streams.ts'
import { fileFolder, getFile, putFile } from './file.ts'
import { clearHistory, getRecord, getRecordData, getStatistics, patchRecord } from './history.ts'
import { queryHistory } from './history-query.ts'
import { postHistory } from './post-history.ts'
import { healthz, root, time, version } from './probes.ts'
import { RememberedRecords } from './remembered-records.ts'

/** What anybody may ask. */
export function publicRoutes({ isDraining }: GatewayOptions): readonly Route<undefined>[] {
  return [route('GET', '/healthz', healthz(isDraining ?? (() => false)))]
}

/** What only devices may ask. */
export function deviceRoutes(
  ports: GatewayPorts,
  streams: EventStreams,
  options: GatewayOptions,
): readonly Route<Device>[] {
  const { maxFileBytes = MAX_FILE_BYTES, maxMetadataBytes = MAX_METADATA_BYTES } = options
  const records = new RememberedRecords()
  ports.devices.onCredentialGone((deviceId) => records.forget(deviceId))
  const ok = empty(200)
  const created = empty(201)
  return [
    route('GET', '/', root()),
    route('GET', '/api/time', time(ports.clock)),
    route('GET', '/api/version', version(options.version)),
    route('GET', '/version', version(options.version)),
    route('GET', '/api/sse/clipboard', getEvents(streams)),

    ...(['sync', 'syncclipboard'] as const).flatMap((dialect) => documentRoutes(dialect)),

    route('GET', '/file/{dataName}', getFile(ports)),
    route('PUT', '/file/{dataName}', putFile({ ...ports, maxFileBytes }), {
      maxBody: maxFileBytes,
    }),
    route('GET', '/file', fileFolder()),
    route('DELETE', '/file', fileFolder()),

    ...historyRoutes(),

    // Clients in WebDAV mode need a 2xx here, and nothing more.
    ...['/', '/file'].flatMap((path) => [
      route('PROPFIND', path, () => ok, { maxBody: maxMetadataBytes }),
      route('MKCOL', path, () => created, { maxBody: maxMetadataBytes }),
    ]),
    route('OPTIONS', '/', () => empty(204, ['Allow', 'GET, HEAD, OPTIONS, PROPFIND, MKCOL'])),
  ]

  function historyRoutes(): readonly Route<Device>[] {
    const maxBody = maxFileBytes + maxMetadataBytes
    const deps = { ...ports, records, maxBody, maxFileBytes, maxMetadataBytes }
    const metadata = { maxBody: maxMetadataBytes }
    return [
      route('POST', '/api/history', postHistory(deps), { maxBody }),
      route('POST', '/api/history/query', queryHistory(deps), metadata),
      route('GET', '/api/history/statistics', getStatistics(deps)),
      route('DELETE', '/api/history/clear', clearHistory()),
      route('GET', '/api/history/{profileId}', getRecord(deps)),
      route('GET', '/api/history/{profileId}/data', getRecordData(deps)),
      route('PATCH', '/api/history/{type}/{hash}', patchRecord(deps), metadata),
    ]
  }

  function documentRoutes(dialect: Dialect): readonly Route<Device>[] {
    const path = DOCUMENT_PATHS[dialect]
    const deps = { ...ports, records, maxMetadataBytes }
    return [
      route('GET', path, getDocument(deps, dialect)),
      route('PUT', path, putDocument(deps), { maxBody: maxMetadataBytes }),
    ]
  }
}
