/**
 * Has suites that open their connections as `RawClient` do so over TLS: a server of theirs gets a
 * twin with TLS on the same gateway, and whoever connects to the one is led to the other.
 *
 * @example
 * ```ts
 * speakTls()
 * await import('../http/framing.test.ts')
 * ```
 * @module
 */

import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { connect as connectTls, createSecureContext } from 'node:tls'
import { startServer, type RunningServer, type ServerOptions } from '../../src/http/server.ts'
import { createAuthority, createLeaf } from '../../src/tls/authority.ts'
import { createIdentity, type Identity } from '../../src/tls/identity.ts'

let identity: Identity | undefined

/** Ports of servers with TLS, by those of their twins. */
const twins: Map<number, number> = new Map()

/** For all suites of this process. */
export function speakTls(): void {
  const now = Date.now()
  const authority = createAuthority('clipgate', ['127.0.0.0/8'], now)
  identity = createIdentity(createLeaf(authority, ['127.0.0.1'], now))
}

export function isTlsSpoken(): boolean {
  return identity !== undefined
}

/** Gives a server its twin, where TLS is spoken. */
export async function addTwin(
  t: TestContext,
  server: RunningServer,
  options: ServerOptions,
): Promise<void> {
  if (identity === undefined) return
  const { context } = identity
  const own = { port: 0, tls: () => context, sharesWith: server }
  const twin = await startServer({ ...options, ...own })
  noteTwin(t, server.port, twin.port)
  t.after(() => twin.stop(0))
}

/** Tells of a server that has a twin, until the test ends: another one may get its port then. */
export function noteTwin(t: TestContext, plain: number, secure: number): void {
  twins.set(plain, secure)
  t.after(() => twins.delete(plain))
}

/** Where to connect to, and whether that speaks TLS. */
export function twinOf(port: number): { readonly port: number; readonly isSecure: boolean } {
  const secure = twins.get(port)
  return { port: secure ?? port, isSecure: secure !== undefined }
}

/** Nobody is trusted here, and the authorities that Node knows would be read each time. */
const TRUSTING = createSecureContext({ ca: [] })

/** Begins the handshake on a socket. */
export function secure(socket: Socket): Socket {
  const options = { socket, secureContext: TRUSTING, rejectUnauthorized: false }
  const secured = connectTls(options)
  // It has none of its own.
  secured.resetAndDestroy = () => {
    socket.resetAndDestroy()
    return secured
  }
  return secured
}
