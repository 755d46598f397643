/** Opens a client of another daemon, on connections of its own. @module */

import type { ClipboardDocument } from '../client/decode-document.ts'
import { download, type Download, type DownloadOptions } from '../client/download.ts'
import { getLatest, type LatestStamped } from '../client/latest.ts'
import { putDocument, type OutgoingDocument, type PushOptions } from '../client/push.ts'
import {
  openServer,
  type BodyReader,
  type ByteSource,
  type Credentials,
  type FetchedBody,
  type Send,
} from '../client/server.ts'
import { sendFile, type Upload } from '../client/upload.ts'
import { watch, type WatchOptions } from '../client/watch.ts'
import type { ContentId } from '../core/content-id.ts'
import { KIB, MIB } from '../core/limits.ts'
import { keepAliveClock, type Clock } from '../lib/clock.ts'
import { MemoryTurn, type HeldTurn } from '../lib/memory-turn.ts'
import { formatCircleTime, CIRCLE_TIME_HEADER, parseCircleTime } from '../core/circle-time.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import { createNodeFetch, type NodeFetchOptions } from '../fetch/node-fetch.ts'

/** Where the other daemon is, and how to get in. A `JoinedPeer` is one. */
export interface DaemonAddress extends Credentials {
  /** SHA-256 of the one certificate that is accepted, in hex. */
  readonly tlsFingerprint?: string | undefined
}

/** Options of {@link openClient}. */
export interface OpenClientOptions extends Omit<NodeFetchOptions, 'clock'> {
  /** Told to the other daemon with each request, and learnt from its answers. */
  readonly circleTime?: CircleTime | undefined
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * A client of one daemon, until it is closed: it sees stamps, and sends documents as they are. Its
 * methods fail as those of `Client` do.
 */
export interface DaemonClient {
  latest(options?: PushOptions): Promise<LatestStamped>
  download(
    document: Pick<ClipboardDocument, 'dataName' | 'hasData'>,
    options?: DownloadOptions,
  ): Promise<Download>
  watch(options?: WatchOptions): AsyncIterableIterator<LatestStamped, undefined>
  /** Sends bytes, for a document that names them. */
  upload(bytes: ByteSource, options: Upload): Promise<void>
  /** Sends a document as it is. */
  apply(document: OutgoingDocument, options?: PushOptions): Promise<ContentId>
  /** Ends all connections. */
  close(): void
}

/** Opens a client. Nothing is sent yet. @throws {ClientError} `SERVER_INVALID`. */
export function openClient(
  address: DaemonAddress,
  { circleTime, timeoutMs, refuse, clock }: OpenClientOptions = {},
): DaemonClient {
  const { fetch, close } = createNodeFetch(address.tlsFingerprint, { refuse, clock })
  const inTurn = waitForMemory(fetch, clock)
  const send = circleTime === undefined ? inTurn : withCircleTime(inTurn, circleTime)
  const server = openServer(address, { send, timeoutMs, clock })
  return {
    latest: (given = {}) => getLatest(server, given),
    download: (document, given = {}) => download(server, document, given),
    watch: (given = {}) => watch(server, given),
    upload: (bytes, given) => sendFile(server, bytes, given),
    apply: (document, given = {}) => putDocument(server, document, given),
    close,
  }
}

/** As fast as a document that was read becomes the item on a small server. */
const SETTLED_BYTES_PER_MS: number = 4 * KIB

/** Has others make way for a long document, which is in memory several times. */
function waitForMemory(send: Send, clock: Clock = keepAliveClock): Send {
  let turn: HeldTurn | undefined
  return async (url, init) => {
    const response = await send(url, init)
    const { status, ok, headers, body } = response
    const isDocument = headers.get('Content-Type')?.startsWith('application/json') === true
    const length = Number(headers.get('Content-Length'))
    if (!isDocument || !(length > MIB) || body === null) return response
    turn?.release()
    const held = await MemoryTurn.of(clock).take(init.signal)
    turn = held
    // Each member of a group may have the same one, and phones wait for all of them.
    const onEnd = (): void => void clock.after(length / SETTLED_BYTES_PER_MS, () => held.release())
    return { status, ok, headers, body: withEnd(body, onEnd) }
  }
}

/** A body that tells when it is not read any more. */
function withEnd(body: FetchedBody, onEnd: () => void): FetchedBody {
  const ending = (one: Pick<FetchedBody, 'cancel'>) => (reason?: unknown) => {
    onEnd()
    return one.cancel(reason)
  }
  const getReader = (): BodyReader => {
    const reader = body.getReader()
    const read = (): ReturnType<BodyReader['read']> => reader.read()
    return { read, free: (value) => reader.free?.(value), cancel: ending(reader) }
  }
  return { getReader, cancel: ending(body) }
}

/** Tells the time with each request. Refusals teach nothing: they may come from a proxy. */
export function withCircleTime(send: Send, time: CircleTime): Send {
  return async (url, init) => {
    const headers = { ...init.headers, [CIRCLE_TIME_HEADER]: formatCircleTime(time.now()) }
    const response = await send(url, { ...init, headers })
    const at = parseCircleTime(response.headers.get(CIRCLE_TIME_HEADER))
    if (at !== undefined && (response.ok || response.status === 304)) time.learn(at)
    return response
  }
}
