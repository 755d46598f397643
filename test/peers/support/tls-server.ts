/** An HTTP server behind TLS that remembers what reached it, down to the connections. @module */

import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { TestCertificate } from '../../support/certificates.ts'
import { listen } from '../../support/listen.ts'
import { joinSockets } from './join-sockets.ts'

export interface TlsServer {
  readonly url: string
  /** Method, path, and whether there were credentials, of each request. */
  readonly requests: readonly string[]
  /** Bytes that clients sent after the handshake. */
  readonly decryptedBytes: number
  /** Has another certificate from now on, and ends what is open. */
  replace(certificate: TestCertificate): void
}

export const describeRequest = ({ method, url, headers }: IncomingMessage): string =>
  `${method} ${url} ${headers.authorization === undefined ? 'anonymous' : 'authorized'}`

export async function startTlsServer(
  t: TestContext,
  { key, cert }: TestCertificate,
  answer: RequestListener,
): Promise<TlsServer> {
  const requests: string[] = []
  let decryptedBytes = 0
  const server = createServer({ key, cert }, (request, response) => {
    requests.push(describeRequest(request))
    answer(request, response)
  })
  server.on('secureConnection', (socket) => {
    socket.prependListener('data', (chunk: Buffer) => (decryptedBytes += chunk.length))
  })
  // Clients that do not like the certificate hang up.
  server.on('tlsClientError', () => undefined)
  const port = await listen(t, server)
  return {
    url: `https://127.0.0.1:${port}`,
    requests,
    get decryptedBytes() {
      return decryptedBytes
    },
    replace: (other) => {
      server.setSecureContext({ key: other.key, cert: other.cert })
      server.closeAllConnections()
    },
  }
}

/** TLS in front of a gateway, as a proxy on a server ends it. */
export async function startTlsFront(
  t: TestContext,
  target: string,
  { key, cert }: TestCertificate,
): Promise<Pick<TlsServer, 'url' | 'replace'>> {
  const { hostname, port: targetPort } = new URL(target)
  const open = new Set<Socket>()
  const server = createTlsServer({ key, cert }, (near) => {
    joinSockets(near, connect(Number(targetPort), hostname), open)
  })
  server.on('tlsClientError', () => undefined)
  const port = await listen(t, server)
  const hangUp = (): void => {
    for (const socket of open) socket.destroy()
  }
  t.after(hangUp)
  return {
    url: `https://127.0.0.1:${port}`,
    replace: (other) => {
      server.setSecureContext({ key: other.key, cert: other.cert })
      hangUp()
    },
  }
}
