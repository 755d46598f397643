/** The endpoint table of the protocol; docs/protocol.md has the same one for people. @module */

import { MAX_FILE_BYTES, MAX_METADATA_BYTES } from '../core/limits.ts'
import { route, type Handler, type Route } from '../http/call.ts'
import { constantReply, empty, json, text } from '../http/reply.ts'
import type { Device, Dialect, Principal } from '../ports/device-registry.ts'
import type { GatewayOptions, GatewayPorts, HandlerDeps } from './gateway-ports.ts'
import { Dialects, DOCUMENT_PATHS } from './dialect.ts'
import { OwnTokens } from '../lib/own-tokens.ts'
import { connectToHub, HUB_PATH, negotiate } from './hub.ts'
import { getDocument, putDocument } from './document.ts'
import { getEvents, type DeviceStreams } from './device-streams.ts'
import { bindEarlier, getFile, putFile } from './file.ts'
import { listFolder } from './folders.ts'
import { getRecord, getRecordData, getStatistics, patchRecord, queryHistory } from './history.ts'
import {
  deleteUpload,
  getUpload,
  getUploadLimits,
  patchUpload,
  UPLOADS_PATH,
} from './partial-uploads.ts'
import { postHistory } from './post-history.ts'
import { RememberedRecords } from './remembered-records.ts'

/**
 * The version of the reference protocol whose rules are kept here. Its programs read a bare number
 * and refuse less than 3.1.1. The dialect tells them, as keyboards send the `User-Agent` of their
 * HTTP library; one that asks for the version first reads the long form once.
 */
const REFERENCE_VERSION = '3.2.0'

/** The route for anybody: whether the listener is live, at a constant cost, and no more. */
export function publicRoutes(): readonly Route<undefined>[] {
  const alive = constantReply({ status: 204 })
  return [route('GET', '/healthz', () => alive)]
}

/** Puts together what handlers of devices need: ports, limits, and what is remembered of each. */
export function createDeps(
  ports: GatewayPorts,
  options: Pick<GatewayOptions, 'maxFileBytes' | 'maxMetadataBytes'>,
): HandlerDeps {
  const { maxFileBytes = MAX_FILE_BYTES, maxMetadataBytes = MAX_METADATA_BYTES } = options
  const records = new RememberedRecords()
  const dialects = new Dialects(ports)
  ports.devices.onCredentialGone((deviceId) => {
    records.forget(deviceId)
    dialects.forget(deviceId)
  })
  const maxBody = maxFileBytes + maxMetadataBytes
  return { ...ports, maxBody, maxFileBytes, maxMetadataBytes, records, dialects }
}

/**
 * The routes by which items come and go, and by which somebody hears of them.
 *
 * @param dialects Those whose documents there are.
 * @param hasPrefix Whether some clients reach them below a path.
 */
export function itemRoutes(
  deps: HandlerDeps,
  streams: Pick<DeviceStreams, 'open'>,
  { dialects, hasPrefix }: { readonly dialects: readonly Dialect[]; readonly hasPrefix: boolean },
): readonly Route<Principal>[] {
  const uploads = { ...deps, hasPrefix }
  const prepare = bindEarlier(deps)
  const metadata = { maxBody: deps.maxMetadataBytes }
  return [
    route('GET', '/api/sse/clipboard', getEvents(streams, deps.dialects)),
    ...dialects.flatMap((dialect) => [
      route('GET', DOCUMENT_PATHS[dialect], getDocument(deps, dialect)),
      route('PUT', DOCUMENT_PATHS[dialect], putDocument(deps, dialect), metadata),
    ]),

    route('GET', '/file/{dataName}', getFile(deps)),
    // These judge the size by themselves: whoever is refused may have to be told more than that.
    route('PUT', '/file/{dataName}', putFile(uploads), { maxBody: Infinity, prepare }),
    route('OPTIONS', '/file/{dataName}', getUploadLimits(uploads)),
    route('GET', `${UPLOADS_PATH}/{token}`, getUpload(uploads)),
    route('PATCH', `${UPLOADS_PATH}/{token}`, patchUpload(uploads), { maxBody: Infinity }),
    route('DELETE', `${UPLOADS_PATH}/{token}`, deleteUpload(uploads)),
  ]
}

/** The routes for devices only. */
export function deviceRoutes(
  ports: GatewayPorts,
  streams: DeviceStreams,
  options: GatewayOptions,
): readonly Route<Device>[] {
  const { publicUrl } = options
  const deps = createDeps(ports, options)
  const { maxBody, maxMetadataBytes } = deps
  const hasPrefix = publicUrl !== undefined && new URL(publicUrl).pathname !== '/'
  const tokens = new OwnTokens()
  const metadata = { maxBody: maxMetadataBytes }
  const [ok, created, root] = [empty(200), empty(201), text('Server is running.')]
  return [
    route('GET', '/', () => root),
    route('GET', '/api/time', () => json(new Date(ports.clock.now()).toISOString())),
    ...['/api/version', '/version'].map((path) => route('GET', path, getVersion(deps, options))),
    route('POST', `${HUB_PATH}/negotiate`, negotiate(tokens), { maxBody: maxMetadataBytes }),
    route('GET', HUB_PATH, connectToHub(tokens, streams, deps.dialects)),

    ...itemRoutes(deps, streams, { dialects: ['sync', 'syncclipboard'], hasPrefix }),
    // The folder exists, and deleting it changes nothing.
    route('GET', '/file', () => ok),
    route('DELETE', '/file', () => ok),

    route('POST', '/api/history', postHistory(deps), { maxBody }),
    route('POST', '/api/history/query', queryHistory(deps), metadata),
    route('GET', '/api/history/statistics', getStatistics(deps)),
    // There is nothing to clear.
    route('DELETE', '/api/history/clear', () => json({ deleted: 0 })),
    route('GET', '/api/history/{profileId}', getRecord(deps)),
    route('GET', '/api/history/{profileId}/data', getRecordData(deps)),
    route('PATCH', '/api/history/{type}/{hash}', patchRecord(deps), metadata),

    // For clients in WebDAV mode.
    ...(['/', '/file'] as const).flatMap((path) => [
      route('PROPFIND', path, listFolder(path, publicUrl), metadata),
      route('MKCOL', path, () => created, metadata),
    ]),
    route('OPTIONS', '/', () => empty(204, ['Allow', 'GET, HEAD, OPTIONS, PROPFIND, MKCOL'])),
  ]
}

/** Programs of the reference protocol compare the version of their server with a number. */
function getVersion({ dialects }: HandlerDeps, { version }: GatewayOptions): Handler<Device> {
  const [own, ofProtocol] = [json(`clipgate ${version}`), text(REFERENCE_VERSION)]
  return (call) => (dialects.of(call) === 'syncclipboard' ? ofProtocol : own)
}
