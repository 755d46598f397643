/**
 * The mobile protocol: a function from ports to a `node:http` listener.
 *
 * @module
 */

import type { RequestListener } from 'node:http'
import { MAX_FILE_BYTES, MAX_METADATA_BYTES } from '../core/limits.ts'
import { route, type Route } from '../http/call.ts'
import type { HttpError } from '../http/http-error.ts'
import { createListener } from '../http/listener.ts'
import { empty } from '../http/reply.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialVerifier } from '../ports/credential-verifier.ts'
import type { Device, DeviceRegistry, Dialect } from '../ports/device-registry.ts'
import type { InboundPipeline } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { StagingArea } from '../ports/staging-area.ts'
import { createAuthenticate } from './authenticate.ts'
import { DOCUMENT_PATHS } from './dialect.ts'
import { getDocument, putDocument } from './document.ts'
import { toHttpError } from './domain-errors.ts'
import { fileFolder, getFile, putFile } from './file.ts'
import { healthz, root, time, version } from './probes.ts'

/** What the protocol needs of the outside. */
export interface GatewayPorts {
  readonly devices: DeviceRegistry
  readonly verifier: CredentialVerifier
  readonly latest: LatestItem
  readonly staging: StagingArea
  readonly inbound: InboundPipeline
  readonly clock: Clock
  readonly logger: Logger
}

export interface GatewayOptions {
  /** Version of the program, as `/api/version` tells it. */
  readonly version: string
  /** Base URL under which clients reach the gateway, when it is not the one they connect to. */
  readonly publicUrl?: string | undefined
  /** Addresses of proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: readonly string[]
  readonly maxFileBytes?: number
  readonly maxMetadataBytes?: number
  /** While true, requests are refused with 503. */
  readonly isDraining?: () => boolean
}

/**
 * Makes the gateway.
 *
 * @returns A listener for `request` *and* `checkContinue` events: without the latter, Node tells
 *   clients to go on before anybody has checked who they are.
 */
export function createGateway(ports: GatewayPorts, options: GatewayOptions): RequestListener {
  const { isDraining = () => false, trustedProxies = [], publicUrl } = options
  return createListener<Device>({
    publicRoutes: [route('GET', '/healthz', healthz(isDraining))],
    routes: createRoutes(ports, options),
    authenticate: createAuthenticate(ports),
    isDraining,
    trustedProxies,
    publicUrl,
    toHttpError,
    onFailure: (error, id) => logFailure(error, id, ports.logger),
  })
}

function createRoutes(ports: GatewayPorts, options: GatewayOptions): readonly Route<Device>[] {
  const { maxFileBytes = MAX_FILE_BYTES, maxMetadataBytes = MAX_METADATA_BYTES } = options
  const ok = empty(200)
  const created = empty(201)
  return [
    route('GET', '/', root()),
    route('GET', '/api/time', time(ports.clock)),
    route('GET', '/api/version', version(options.version)),
    route('GET', '/version', version(options.version)),

    ...(['sync', 'syncclipboard'] as const).flatMap((dialect) => documentRoutes(dialect)),

    route('GET', '/file/{dataName}', getFile(ports)),
    route('PUT', '/file/{dataName}', putFile({ ...ports, maxFileBytes }), { maxBody: maxFileBytes }),
    route('GET', '/file', fileFolder()),
    route('DELETE', '/file', fileFolder()),

    // Clients in WebDAV mode need a 2xx here, and nothing more.
    ...['/', '/file'].flatMap((path) => [
      route('PROPFIND', path, () => ok, { maxBody: maxMetadataBytes }),
      route('MKCOL', path, () => created, { maxBody: maxMetadataBytes }),
    ]),
    route('OPTIONS', '/', () => empty(204, ['Allow', 'GET, HEAD, OPTIONS, PROPFIND, MKCOL'])),
  ]

  function documentRoutes(dialect: Dialect): readonly Route<Device>[] {
    const path = DOCUMENT_PATHS[dialect]
    const deps = { ...ports, maxMetadataBytes }
    return [
      route('GET', path, getDocument(deps, dialect)),
      route('PUT', path, putDocument(deps), { maxBody: maxMetadataBytes }),
    ]
  }
}

/** The reason of an unexpected failure; never a body, a header or a name. */
function logFailure(error: HttpError, id: string, logger: Logger): void {
  const { cause } = error
  const isUnexpected = error.code === 'INTERNAL'
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined
  if (isUnexpected) logger.error('A request failed', { id, reason })
  else logger.warn('A request was refused', { code: error.code, reason })
}
