/** Answers what never became a request: the parser gave up, or the header never ended. @module */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { connectionOf } from './connection.ts'
import { HttpError, problemReply } from './http-error.ts'
import { LINGER_BYTES, LINGER_MS } from './silence.ts'
import { allHeaders } from './reply.ts'

/** The failure of Node's parser. */
export interface ParserError extends Error {
  readonly code?: string
  readonly reason?: string
}

/** Answers to a `clientError` event. */
export function onClientError(
  error: ParserError,
  socket: Socket,
  clock: Pick<Clock, 'after'>,
): void {
  if (error.code?.startsWith('HPE_') === true) refuseSocket(socket, toHttpError(error), clock)
  // Resets and the like: there is nobody to talk to.
  else socket.destroy()
}

/**
 * Answers with a problem and ends the connection. Answers that are owed for earlier requests come
 * first, and then nothing else does; one that has no end is broken off.
 */
export function refuseSocket(socket: Socket, error: HttpError, clock: Pick<Clock, 'after'>): void {
  const connection = connectionOf(socket)
  const { latest, refusedAt, isBusy } = connection
  // Bytes behind the last answer are not even malformed.
  if (connection.isClosing && !isBusy && refusedAt === undefined) return
  if (refusedAt !== undefined) {
    // The parser complains again about each piece that comes.
    if (socket.bytesRead > refusedAt + LINGER_BYTES) socket.destroy()
    return
  }
  connection.refusedAt = socket.bytesRead
  if (connection.isLive) {
    socket.destroy()
    return
  }
  if (isBusy && latest !== undefined) {
    if (latest.headersSent || latest.req.complete) {
      latest.shouldKeepAlive = false
      latest.once('finish', () => socket.destroySoon())
      return
    }
    // The broken body belongs to a request behind others, whose answers are still owed.
    if (latest.socket === null) {
      socket.destroy()
      return
    }
  }
  if (socket.writable) socket.end(formatResponse(error))
  const cancelTimer = clock.after(LINGER_MS, () => socket.destroy())
  socket.once('close', cancelTimer)
}

function toHttpError({ code, reason }: ParserError): HttpError {
  if (code === 'HPE_HEADER_OVERFLOW') return new HttpError('HEADERS_TOO_LARGE')
  if (code === 'HPE_INVALID_EOF_STATE') return new HttpError('INCOMPLETE_BODY')
  // Other reasons of HPE_INVALID_VERSION are about what stands around the version.
  if (code === 'HPE_PAUSED_H2_UPGRADE' || reason === 'Invalid HTTP version') {
    return new HttpError('VERSION_UNSUPPORTED')
  }
  // Node 20 leaves this one to us, and so it gets the same answer.
  if (reason === 'Empty Transfer-Encoding') return new HttpError('TRANSFER_CODING_UNSUPPORTED')
  return new HttpError('BAD_REQUEST')
}

function formatResponse(error: HttpError): string {
  const { status, body, headers } = problemReply(error)
  const text = typeof body === 'string' ? body : ''
  const own = ['Date', new Date().toUTCString(), 'Connection', 'close']
  const fields = allHeaders({ status, headers: [...(headers ?? []), ...own] }, text.length)
  const lines = fields.map((field, index) => (index % 2 === 0 ? `${field}: ` : `${field}\r\n`))
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`
}
