/**
 * Opens connections to another daemon, and hands one over only when it leads to where it should:
 * nothing of a request is written before.
 *
 * A connection that is given up or takes too long before then leaves no socket behind. An agent of
 * Node would not see to that: it does not know of a socket before it is handed over.
 * @module
 */

import { timingSafeEqual } from 'node:crypto'
import type { Agent, ClientRequestArgs } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../lib/clock.ts'
import { KIB } from '../core/limits.ts'
import { openReadable } from './long-body.ts'

/**
 * For the handshakes of TCP and TLS together. A request may take hours, when it has a large body.
 */
const CONNECT_MS = 30_000

/** With less, Node stops reading after each chunk, and begins again with a call of the system. */
const READ_AHEAD_BYTES: number = 256 * KIB

/** The options of a request that its agent gets. */
export interface CheckedRequest extends ClientRequestArgs {
  /** Aborts when nobody waits for the connection any more. */
  readonly givenUp?: AbortSignal
}

/** The checks that every connection has to pass. */
export interface ConnectionChecks {
  /** Why no connection to an address may be used, if so. */
  readonly refuse?: ((address: string) => Error | undefined) | undefined
  readonly clock: Pick<Clock, 'after'>
}

/** How connections are made. */
export interface Dial {
  /** Begins to connect. */
  readonly open: (options: ClientRequestArgs) => Socket
  /** The event after which {@link check} is asked. */
  readonly readyEvent: 'connect' | 'secureConnect'
  /** Returns the reason to refuse a connection that is ready. */
  readonly check?: (socket: Socket) => Error | undefined
}

/** Lets an agent connect in this way. @returns Ends its connections, also unfinished ones. */
export function checkConnections(agent: Agent, dial: Dial, checks: ConnectionChecks): () => void {
  const opening = new Set<Socket>()
  agent.createConnection = (options: CheckedRequest, callback) => {
    const socket = openReadable(dial.open, { ...options, highWaterMark: READ_AHEAD_BYTES })
    opening.add(socket)
    const settle = (error: Error | undefined): void => {
      if (!opening.delete(socket)) return
      cancel()
      options.givenUp?.removeEventListener('abort', onGivenUp)
      if (error === undefined) return callback?.(null, socket)
      // A connection that we have refused is still open.
      socket.destroy()
      // With an error, the socket is not looked at.
      callback?.(error, socket)
    }
    const onGivenUp = (): void => settle(withCode('ABORT_ERR', 'nobody waits for it'))
    const onLate = (): void => settle(withCode('ETIMEDOUT', 'the connection takes too long'))
    const cancel = checks.clock.after(CONNECT_MS, onLate)
    options.givenUp?.addEventListener('abort', onGivenUp)
    // After the connection was handed over, its new owner hears of errors as well.
    socket.on('error', settle)
    socket.once('close', () => settle(withCode('ECONNRESET', 'the other side hung up')))
    socket.once('connect', () => {
      const refusal = checks.refuse?.(socket.remoteAddress ?? '')
      if (refusal !== undefined) settle(refusal)
    })
    socket.once(dial.readyEvent, () => settle(dial.check?.(socket)))
    return undefined
  }
  return () => {
    agent.destroy()
    for (const socket of opening) socket.destroy()
  }
}

/** The check for one certificate, whoever signed it and whatever its name. */
export function isPinned(fingerprint: string): (socket: Socket) => Error | undefined {
  const wanted = Buffer.from(fingerprint, 'hex')
  return (socket) => {
    const { fingerprint256 = '' } = (socket as TLSSocket).getPeerCertificate()
    const given = Buffer.from(fingerprint256.replaceAll(':', ''), 'hex')
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return undefined
    return withCode('CERTIFICATE_NOT_PINNED', 'another certificate')
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')
// A connection to these addresses ends at the machine itself.
loopback.addAddress('0.0.0.0')
loopback.addAddress('::', 'ipv6')

/** Whether an address of a socket is of this machine only; as IPv6 spells IPv4, too. */
export function isLoopbackAddress(address: string): boolean {
  // Link-local ones name their interface.
  const [bare = ''] = address.split('%')
  return loopback.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
