/** The life of a listening socket: binds, comes back when it is lost, drains and stops. @module */

import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { systemClock, type Clock } from '../lib/clock.ts'
import { codeOf } from '../lib/system-error.ts'
import { connectionOf } from './connection.ts'
import { ConnectionTable, type ConnectionLimits } from './connection-table.ts'
import type { Handshakes } from './handshakes.ts'
import { turns } from './pipeline.ts'
import { onClientError, type ParserError } from './refuse-socket.ts'
import { serveUpgrades } from './upgrade.ts'

/** The address of a server, and whom it lets in. */
export interface ServerOptions extends ConnectionLimits {
  /** For `request`, `checkContinue` and `checkExpectation` events. */
  readonly listener: RequestListener
  /** An IPv6 address is bound for IPv6 alone. */
  readonly host: string
  /** 0 picks one. */
  readonly port: number
  /** Gives what the next handshake uses; without it, the server speaks plain HTTP. */
  readonly tls?: (() => SecureContext) | undefined
  /** A server whose limits this one shares, and whose connections count with its own. */
  readonly sharesWith?: RunningServer | undefined
  /** Called with what is wrong with the listening socket, and with `undefined` once it is back. */
  readonly onTrouble?: ((reason: string | undefined) => void) | undefined
  /** The clock of the machine unless given. */
  readonly clock?: Clock | undefined
}

/** Phones poll each minute; a little more saves them the handshake. */
const KEEP_ALIVE_MS = 65_000

const MAX_HEADER_BYTES: number = 16 * 1024

/** The longest delay that timers know: never, in practice. */
const NEVER_MS: number = 2 ** 31 - 1

/** First pause before a lost socket is bound again; doubles up to thirty times that. */
const RETRY_MS = 1000
const MAX_RETRY_FACTOR = 30

/**
 * Pause between two looks at the listening socket. The system can abort one, as `ss -K` does:
 * nothing is called then, and libuv asks the dead socket for connections as fast as it can.
 */
export const LOOK_MS = 60_000

/** Where a server that listens on all addresses can be reached from this machine. */
const LOOPBACK: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

const CLOSED = 'the socket was closed'

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'something else listens there already'],
  ['EACCES', 'the system does not permit it'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EAFNOSUPPORT', 'this machine does not have that kind of address'],
  ['ENOTFOUND', 'there is no host of that name'],
])

/** @throws {Error} naming the address; its `cause` is the error of the system. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { tls, clock = systemClock } = options
  const handshakes = tls && new (await import('./handshakes.ts')).Handshakes(tls, clock)
  const server = new RunningServer(options, handshakes)
  await server.start()
  return server
}

/** A server that accepts connections. */
export class RunningServer {
  readonly host: string
  /** Whether it speaks TLS. */
  readonly isSecure: boolean
  /** The reason why the server does not listen at the moment, if it does not. */
  trouble: string | undefined
  #port: number
  readonly #server: Server
  readonly #connections: ConnectionTable
  readonly #onTrouble: (reason: string | undefined) => void
  readonly #clock: Clock
  /** The newest look at the listening socket. */
  #looking: Socket | undefined
  #cancelLook: (() => void) | undefined
  #cancelRetry: (() => void) | undefined
  #retries = 0
  #stopped: Promise<number> | undefined

  constructor(options: ServerOptions, handshakes?: Handshakes) {
    const { clock = systemClock, onTrouble = () => {}, sharesWith } = options
    this.host = options.host
    this.#port = options.port
    this.#clock = clock
    this.isSecure = handshakes !== undefined
    this.#connections =
      sharesWith === undefined ? new ConnectionTable(options, clock) : sharesWith.#connections
    this.#onTrouble = onTrouble
    this.#server = createHttpServer(options.listener, clock)
    const parsers = this.#server.listeners('connection')
    if (handshakes !== undefined) this.#server.removeAllListeners('connection')
    const parse = (socket: Socket): void => {
      for (const parser of parsers) parser.call(this.#server, socket)
    }
    // Before `node:http` sees the connection, and before a byte of it is read.
    this.#server.prependListener('connection', (socket) => {
      const isOwn =
        socket.remotePort !== undefined && socket.remotePort === this.#looking?.localPort
      // The look at the socket takes nobody's place.
      if (isOwn && socket.remoteAddress === socket.localAddress) socket.destroy()
      else if (handshakes === undefined) this.#connections.add(socket)
      else this.#secure(socket, handshakes, parse)
    })
    // Encrypted, they have turns of their own.
    if (handshakes === undefined) this.#server.on('connection', restInBusyTimes)
  }

  /** Has the parsers of `node:http` get a connection once it is encrypted. */
  #secure(socket: Socket, handshakes: Handshakes, parse: (secured: Socket) => void): void {
    const takePlace = this.#connections.addUnsecured(socket)
    if (takePlace === undefined) return
    handshakes.begin(socket, (secured) => {
      takePlace(secured)
      parse(secured)
    })
  }

  /** The port really bound. */
  get port(): number {
    return this.#port
  }

  async start(): Promise<void> {
    await this.#listen()
    this.#server.on('error', (error) => {
      // An attempt to bind has its own ears.
      if (this.#server.listening) this.#onTrouble(error.message)
    })
    this.#server.on('close', () => {
      // After a loss that was noticed, it comes with the end of the last connection.
      if (this.#stopped === undefined && this.#cancelRetry === undefined) this.#comeBack(CLOSED)
    })
    this.#lookLater()
  }

  /**
   * Closes idle connections at once and gives those that an answer is owed to `graceMs`; accepts
   * new ones meanwhile, so that the listener can tell them. Then ends what is left.
   *
   * The listener is to refuse new requests from before this on.
   *
   * @returns How many connections were cut while they were owed an answer.
   */
  stop(graceMs: number): Promise<number> {
    this.#stopped ??= this.#stop(graceMs)
    return this.#stopped
  }

  async #stop(graceMs: number): Promise<number> {
    this.#cancelRetry?.()
    this.#cancelLook?.()
    if (graceMs > 0) await this.#drained(graceMs)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    const cut = this.#connections.closeAll()
    await closed
    return cut
  }

  /** Resolves when no answer is owed to anybody any more, or the time is over. */
  #drained(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancelDeadline = this.#clock.after(graceMs, resolve)
      const check = (): void => {
        this.#connections.closeIdle()
        const [busy] = this.#connections.busy
        if (busy !== undefined) {
          busy.onIdle(check)
          return
        }
        cancelDeadline()
        resolve()
      }
      check()
    })
  }

  #listen(): Promise<void> {
    const { host } = this
    const port = this.#port
    const server = this.#server
    return new Promise((resolve, reject) => {
      const onError = (cause: NodeJS.ErrnoException): void => {
        const reason = REASONS.get(cause.code) ?? cause.message
        reject(new Error(`Cannot listen on ${formatAddress(host, port)}: ${reason}`, { cause }))
      }
      server.once('error', onError)
      server.listen({ host, port, ipv6Only: true, exclusive: true }, () => {
        server.off('error', onError)
        // A listening TCP server has an address of this kind.
        this.#port = (server.address() as AddressInfo).port
        resolve()
      })
    })
  }

  #lookLater(): void {
    this.#cancelLook = this.#clock.after(LOOK_MS, () => this.#look())
  }

  /** Connects to itself: nobody listens any more where the system refuses that. */
  #look(): void {
    // From the address itself: while this machine does not have it, nothing is sent to others.
    const own = LOOPBACK.get(this.host) ?? this.host
    const socket = connect({ port: this.#port, host: own, localAddress: own }).unref()
    this.#looking = socket
    // A reset leaves nothing behind that waits for late packets.
    socket.once('connect', () => socket.resetAndDestroy())
    socket.once('error', (error) => {
      if (codeOf(error) !== 'ECONNREFUSED' || this.#stopped !== undefined) return
      this.#server.close()
      this.#comeBack(CLOSED)
    })
    this.#lookLater()
  }

  #comeBack(reason: string): void {
    this.#cancelLook?.()
    this.trouble = reason
    this.#onTrouble(reason)
    const delay = RETRY_MS * Math.min(2 ** this.#retries, MAX_RETRY_FACTOR)
    this.#retries += 1
    this.#cancelRetry = this.#clock.after(delay, () => void this.#listenAgain())
  }

  async #listenAgain(): Promise<void> {
    try {
      await this.#listen()
    } catch (error) {
      this.#comeBack(error instanceof Error ? error.message : 'Cannot listen')
      return
    }
    this.trouble = undefined
    this.#cancelRetry = undefined
    this.#retries = 0
    if (this.#stopped !== undefined) {
      this.#server.close()
      return
    }
    this.#lookLater()
    this.#onTrouble(undefined)
  }
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** A `node:http` server without the defaults that do not suit a server on an open network. */
function createHttpServer(listener: RequestListener, clock: Pick<Clock, 'after'>): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    // Answered by the listener, with a body.
    requireHostHeader: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
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
  serveUpgrades(server, listener)
  return server
}

/** The first read of a new connection may take long as well. */
function restInBusyTimes(socket: Socket): void {
  if (!turns.isBusy) return
  // Behind the tick in which `node:http` begins to read.
  process.nextTick(() => {
    if (!socket.destroyed) connectionOf(socket).restUntilTurn()
  })
}
