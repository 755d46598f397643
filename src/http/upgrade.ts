/**
 * Requests that ask for another protocol on their connection.
 *
 * Node takes each of them from its parser, whichever protocol it asks for. One for a WebSocket goes
 * the way of every request from here on, and may be answered 101; the others ask for what nobody
 * here speaks, and are parsed once more as if they had not asked.
 * @module
 */

import { ServerResponse, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf } from './connection.ts'

/**
 * Serves the requests for another protocol, with or without TLS.
 *
 * @param server Nobody else may listen to its `upgrade` events, nor yet to its connections.
 * @param listener Gets the requests for a WebSocket, and may answer 101.
 */
export function serveUpgrades(server: Server, listener: RequestListener): void {
  // On a server with TLS, the other event tells of bytes that are still encrypted.
  const isSecure = server.listenerCount('secureConnection') > 0
  const parsers = server.listeners(isSecure ? 'secureConnection' : 'connection')
  // Newer versions of Node ask which requests to hand over. One with a body they would hand over
  // without it. What they do not hand over they serve, but forget what was sent right behind it.
  Object.assign(server, { shouldUpgradeCallback: (request: IncomingMessage) => !hasBody(request) })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const connection = connectionOf(socket)
    const isBehind = connection.isBusy || connection.latest?.socket === socket
    // The server has taken its own listeners from the socket.
    const onError = (): void => void socket.destroy()
    socket.on('error', onError)
    if (!asksForWebSocket(request)) {
      socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), 'latin1'), head]))
      // Answers that are sent have the socket read on, and what nobody listens for is lost.
      const keep = (): void => {}
      socket.on('readable', keep)
      const parseAgain = (): void => {
        if (!socket.writable) return
        socket.off('error', onError)
        // The answer before this request has started the timer for the next one.
        socket.setTimeout(0)
        for (const parse of parsers) parse.call(server, socket)
        socket.off('readable', keep)
      }
      // A new parser does not know the answers that stand before those to its requests.
      if (isBehind) connection.onIdle(parseAgain)
      else parseAgain()
      return
    }
    if (head.length > 0) socket.unshift(head)
    // A client cannot know before the answers to earlier requests whether it may change over.
    if (isBehind) {
      connection.onIdle(() => socket.destroySoon())
      return
    }
    connection.asksForWebSocket = true
    listener(request, responseOn(socket, request))
  })
}

/**
 * Whether a request asks for a WebSocket: RFC 6455 section 4.2.1. A body has no place there, and a
 * request in HTTP/1.0 is answered as if it had not asked: RFC 9110 section 7.8.
 */
function asksForWebSocket(request: IncomingMessage): boolean {
  const { method, headers, httpVersionMinor } = request
  if (httpVersionMinor === 0) return false
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody(request)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** The response that Node makes for other requests itself. The connection ends with it. */
function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  // Whatever comes behind is no request any more, whether or not the protocol changes.
  response.shouldKeepAlive = false
  response.once('finish', () => socket.destroySoon())
  return response
}

/** The header of a request as it came, without the wish for another protocol. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[index + 1] ?? ''}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
