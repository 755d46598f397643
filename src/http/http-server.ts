/**
 * A `node:http` server without the defaults that do not suit a server on an open network. It is
 * not bound to anything yet.
 * @module
 */

import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { onClientError, type ParserError } from './refuse-socket.ts'

/** Phones poll each minute; a little more saves them the handshake. */
const KEEP_ALIVE_MS = 65_000

const MAX_HEADER_BYTES: number = 16 * 1024

/** Finds peers that vanished without a word while nothing is sent. */
const PROBE_MS = 60_000

/** The longest delay that timers know: never, in practice. */
const NEVER_MS: number = 2 ** 31 - 1

/** @param listener For all three events; see `createListener`. */
export function createHttpServer(listener: RequestListener, clock: Pick<Clock, 'after'>): Server {
  return createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    // Answered by the listener, with a body.
    requireHostHeader: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
    // Would end slow uploads; the body readers and `ConnectionTable` have limits of their own,
    // which need no work while nobody is connected.
    requestTimeout: 0,
    headersTimeout: 0,
    connectionsCheckingInterval: NEVER_MS,
  })
    .on('request', listener)
    .on('checkContinue', listener)
    .on('checkExpectation', listener)
    .on('clientError', (error: ParserError, socket: Socket) => onClientError(error, socket, clock))
}
