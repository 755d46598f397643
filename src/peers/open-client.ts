/**
 * Opens a client of another daemon, on connections of its own.
 *
 * @module
 */

import { connectDaemon, type DaemonClient } from '../client/connect-daemon.ts'
import type { Credentials, Send } from '../client/server.ts'
import type { Timing } from '../client/timing.ts'
import { formatGroupTime, GROUP_TIME_HEADER, parseGroupTime } from '../core/group-time.ts'
import type { GroupTime } from '../ports/group-time.ts'
import { createPeerFetch, type PeerFetchOptions } from './peer-fetch.ts'

/** Where the other daemon is, and how to get in. A `PeerRecord` is one. */
export interface DaemonAddress extends Credentials {
  /** SHA-256 of the one certificate that is accepted, in hex. */
  readonly tlsFingerprint?: string | undefined
}

/** Options of {@link openClient}. */
export interface OpenClientOptions extends Omit<PeerFetchOptions, 'timing'> {
  /** Told to the other daemon with each request, and learnt from its answers. */
  readonly groupTime?: GroupTime | undefined
  readonly timeoutMs?: number | undefined
  readonly timing?: Timing | undefined
}

/** A client, until it is closed. */
export interface OpenClient extends DaemonClient {
  /** Ends all connections. */
  close(): void
}

/**
 * Opens a client. Nothing is sent yet.
 *
 * @throws {ClientError} `SERVER_INVALID`.
 */
export function openClient(
  address: DaemonAddress,
  { groupTime, timeoutMs, refuse, timing }: OpenClientOptions = {},
): OpenClient {
  const { fetch, close } = createPeerFetch(address.tlsFingerprint, { refuse, timing })
  const send = groupTime === undefined ? fetch : withGroupTime(fetch, groupTime)
  return { ...connectDaemon(address, { send, timeoutMs, timing }), close }
}

/** Tells the time with each request. Refusals teach nothing: they may come from a proxy. */
export function withGroupTime(send: Send, time: GroupTime): Send {
  return async (url, init) => {
    const headers = { ...init.headers, [GROUP_TIME_HEADER]: formatGroupTime(time.now()) }
    const response = await send(url, { ...init, headers })
    const at = parseGroupTime(response.headers.get(GROUP_TIME_HEADER))
    if (at !== undefined && (response.ok || response.status === 304)) time.learn(at)
    return response
  }
}
