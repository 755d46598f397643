/**
 * The life of a listening socket: binds, comes back when it is lost, drains and stops.
 *
 * @module
 */

import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConnectionTable, type ConnectionLimits } from './connection-table.ts'
import { createHttpServer } from './http-server.ts'
import { ListenerProbe } from './listener-probe.ts'

export interface ServerOptions extends ConnectionLimits {
  /** For `request`, `checkContinue` and `checkExpectation` events. */
  readonly listener: RequestListener
  /** An IPv6 address is bound for IPv6 alone. */
  readonly host: string
  /** 0 picks one. */
  readonly port: number
  /** Told what is wrong with the listening socket; `undefined` when it is well again. */
  readonly onTrouble?: ((reason: string | undefined) => void) | undefined
  readonly keepAliveMs?: number | undefined
  /** First pause before a lost socket is bound again; doubles up to thirty times that. */
  readonly retryMs?: number | undefined
  /** How often the server looks whether its socket is still there. */
  readonly probeMs?: number | undefined
}

/** A server that accepts connections. */
export interface RunningServer {
  readonly host: string
  /** The port really bound. */
  readonly port: number
  /** What is wrong at the moment, if anything is. */
  readonly trouble: string | undefined

  /**
   * Closes idle connections at once and gives those that an answer is owed to `graceMs`; accepts
   * new ones meanwhile, so that the listener can tell them. Then ends what is left.
   *
   * The listener is to refuse new requests from before this on.
   */
  stop(graceMs: number): Promise<void>
}

const RETRY_MS = 1000
const MAX_RETRY_FACTOR = 30

/** For so long a lost socket goes unnoticed, and costs a processor. */
const PROBE_MS = 60_000

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
  const server = new ListeningServer(options)
  await server.start()
  return server
}

class ListeningServer implements RunningServer {
  readonly host: string
  trouble: string | undefined = undefined
  #port: number
  readonly #server: Server
  readonly #connections: ConnectionTable
  readonly #onTrouble: (reason: string | undefined) => void
  readonly #retryMs: number
  readonly #probe: ListenerProbe
  #retry: NodeJS.Timeout | undefined = undefined
  #retries = 0
  #stopped: Promise<void> | undefined = undefined

  constructor(options: ServerOptions) {
    this.host = options.host
    this.#port = options.port
    this.#connections = new ConnectionTable(options)
    this.#onTrouble = options.onTrouble ?? (() => {})
    this.#retryMs = options.retryMs ?? RETRY_MS
    this.#server = createHttpServer(options.listener, options.keepAliveMs)
    // Before `node:http` sees the connection, and before a byte of it is read.
    this.#server.prependListener('connection', (socket) => {
      if (this.#probe.meets(socket)) socket.destroy()
      else this.#connections.add(socket)
    })
    this.#probe = new ListenerProbe({
      host: options.host,
      intervalMs: options.probeMs ?? PROBE_MS,
      onLost: () => {
        this.#server.close()
        this.#comeBack(CLOSED)
      },
    })
  }

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
      if (this.#stopped === undefined && this.#retry === undefined) this.#comeBack(CLOSED)
    })
    this.#probe.start(this.#port)
  }

  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs)
    return this.#stopped
  }

  async #stop(graceMs: number): Promise<void> {
    clearTimeout(this.#retry)
    this.#probe.stop()
    await this.#drained(graceMs)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#connections.closeAll()
    await closed
  }

  /** Resolves when no answer is owed to anybody any more, or the time is over. */
  #drained(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const deadline = setTimeout(resolve, graceMs)
      const check = (): void => {
        this.#connections.closeIdle()
        const [busy] = this.#connections.busy
        if (busy !== undefined) {
          busy.onIdle(check)
          return
        }
        clearTimeout(deadline)
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

  #comeBack(reason: string): void {
    this.#probe.stop()
    this.trouble = reason
    this.#onTrouble(reason)
    const delay = this.#retryMs * Math.min(2 ** this.#retries, MAX_RETRY_FACTOR)
    this.#retries += 1
    this.#retry = setTimeout(() => void this.#listenAgain(), delay)
  }

  async #listenAgain(): Promise<void> {
    try {
      await this.#listen()
    } catch (error) {
      this.#comeBack(error instanceof Error ? error.message : 'Cannot listen')
      return
    }
    this.trouble = undefined
    this.#retry = undefined
    this.#retries = 0
    if (this.#stopped !== undefined) {
      this.#server.close()
      return
    }
    this.#probe.start(this.#port)
    this.#onTrouble(undefined)
  }
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
