/**
 * The open connections of a server: who may connect, how many, and how long one may be silent.
 *
 * Nobody is connected: no timer.
 * @module
 */

import type { Socket } from 'node:net'
import { readFileSync } from 'node:fs'
import type { Clock } from '../lib/clock.ts'
import { Chain, type Link } from '../lib/chain.ts'
import { Shares } from '../lib/shares.ts'
import { afterWhatCame, type SilenceTimer } from './silence.ts'
import { type Connection, connectionOf } from './connection.ts'
import { HttpError } from './http-error.ts'
import { refuseSocket } from './refuse-socket.ts'

/** Bounds of a server. */
export interface ConnectionLimits {
  /** Whether connections from this address are served at all; the others are closed unread. */
  readonly admit?: ((remoteAddress: string) => boolean) | undefined
  /** Fewer when the system does not give this process as many descriptors. */
  readonly maxConnections: number
  /** Counts only connections on which nobody has logged in yet. */
  readonly maxConnectionsPerAddress: number
  /** Addresses without that limit: proxies, which stand for many. */
  readonly isExempt?: ((remoteAddress: string) => boolean) | undefined
}

/** Time for a header, from the first byte of the connection or of a later request on. */
export const HEADER_MS = 10_000

/** Pause between two looks at the headers that are awaited. */
const CHECK_MS = 1000

/** Finds peers that vanished without a word while nothing is sent. */
const PROBE_MS = 60_000

/** A client or address with more connections gives one up for a newcomer, even a busy one. */
const MANY_CONNECTIONS = 32

interface Entry extends Link<Entry> {
  connection: Connection
  /** Whether it is still to be encrypted: nothing can be said on it before that. */
  isSecuring: boolean
  /** When the header that is awaited began; `undefined` while none has. */
  headerSince: number | undefined
  /** Whether its peer is asked whether it is there: not before the first check, which few see. */
  isProbed: boolean
  /** As of the last check. */
  bytes: number
  requests: number
}

/** The connections of a server. */
export class ConnectionTable {
  readonly #limits: ConnectionLimits
  readonly #maxConnections: number
  readonly #clock: Clock
  /** Oldest first. */
  readonly #entries = new Chain<Entry>()
  readonly #perAddress = new Shares()
  #timer: SilenceTimer | undefined

  constructor(limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits
    this.#maxConnections = Math.min(limits.maxConnections, affordableConnections())
    this.#clock = clock
  }

  /** The connections that an answer is owed to. */
  get busy(): readonly Connection[] {
    return [...this.#entries].map(({ connection }) => connection).filter(({ isBusy }) => isBusy)
  }

  /** Takes a new connection in, or closes it. */
  add(socket: Socket): void {
    this.#add(socket, false)
  }

  /**
   * Takes in a connection that begins with a handshake, or closes it. The handshake has the time of
   * a header, and the first header has what is left of it.
   *
   * @returns Puts the encrypted connection in its place; `undefined` when there was none.
   */
  addUnsecured(socket: Socket): ((secured: Socket) => void) | undefined {
    const entry = this.#add(socket, true)
    if (entry === undefined) return undefined
    return (secured) => {
      const connection = connectionOf(secured)
      connection.transport = socket
      connection.remoteAddress = entry.connection.remoteAddress
      Object.assign(entry, { connection, isSecuring: false, bytes: 0 })
    }
  }

  #add(socket: Socket, isSecuring: boolean): Entry | undefined {
    const connection = connectionOf(socket)
    if (!this.#hasRoom(connection)) {
      socket.destroy()
      return undefined
    }
    const entry: Entry = {
      connection,
      isSecuring,
      headerSince: this.#clock.monotonic(),
      isProbed: false,
      bytes: 0,
      requests: 0,
      previous: undefined,
      next: undefined,
    }
    connection.restStrangers = this.#restStrangers
    this.#entries.add(entry)
    this.#perAddress.add(connection.remoteAddress ?? '', 1)
    connection.onGone(() => this.#remove(entry))
    this.#schedule()
    return entry
  }

  /** Reads nothing more of strangers before their turns; what is encrypted has turns of its own. */
  readonly #restStrangers = (): void => {
    for (const { connection } of this.#entries) {
      const { socket, transport, isKnown } = connection
      if (!isKnown && socket === transport && socket.readableFlowing) connection.restApart()
    }
  }

  /**
   * Closes the connections that have had their answers. One that nothing was asked on yet is new:
   * its request is on the way, and is told what is going on.
   */
  closeIdle(): void {
    for (const { connection } of this.#entries) {
      if (!connection.isBusy && connection.requests > 0) connection.socket.destroy()
    }
  }

  /** @returns How many were owed an answer. */
  closeAll(): number {
    const { length } = this.busy
    for (const entry of this.#entries) {
      this.#remove(entry)
      entry.connection.socket.destroy()
    }
    return length
  }

  #hasRoom({ remoteAddress }: Connection): boolean {
    const { admit, isExempt, maxConnectionsPerAddress } = this.#limits
    // Gone before it was here.
    if (remoteAddress === undefined) return false
    if (admit?.(remoteAddress) === false) return false
    const isCrowded =
      this.#perAddress.of(remoteAddress) >= maxConnectionsPerAddress &&
      isExempt?.(remoteAddress) !== true &&
      this.#strangers(remoteAddress) >= maxConnectionsPerAddress
    if (isCrowded) {
      const isOfThem = (other: Connection): boolean => other.remoteAddress === remoteAddress
      if (!this.#closeOldest((other) => other.isExpendable && isOfThem(other))) return false
    }
    if (this.#entries.size < this.#maxConnections) return true
    // A stranger that does not read its answer, or goes on sending what nobody wants, is no reason
    // to turn somebody away or to hang up on a device; the newcomer may be the owner.
    return (
      this.#closeOfGreediest() ||
      this.#closeOldest((other) => other.isExpendable) ||
      this.#closeOldest((other) => !other.isBusy)
    )
  }

  /**
   * Closes a connection of whoever has most, if these are more than anybody needs: else one who
   * keeps connecting would have those of others closed.
   */
  #closeOfGreediest(): boolean {
    const shares = new Shares()
    for (const { connection } of this.#entries) {
      const owner = ownerOf(connection)
      if (owner !== undefined) shares.add(owner, 1)
    }
    const [greediest] = shares.largestFirst()
    if (greediest === undefined || greediest[1] <= MANY_CONNECTIONS) return false
    const isIts = (other: Connection): boolean => ownerOf(other) === greediest[0]
    return this.#closeOldest((other) => isIts(other) && !other.isBusy) || this.#closeOldest(isIts)
  }

  /** Connections from an address on which nobody has logged in. */
  #strangers(remoteAddress: string): number {
    let count = 0
    for (const { connection } of this.#entries) {
      if (!connection.isKnown && connection.remoteAddress === remoteAddress) count += 1
    }
    return count
  }

  /** @returns Whether there was one to close. */
  #closeOldest(isExpendable: (connection: Connection) => boolean): boolean {
    for (const entry of this.#entries) {
      if (!isExpendable(entry.connection)) continue
      this.#remove(entry)
      entry.connection.socket.destroy()
      return true
    }
    return false
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#perAddress.add(entry.connection.remoteAddress ?? '', -1)
  }

  #schedule(): void {
    this.#timer ??= afterWhatCame(this.#clock, CHECK_MS, () => this.#check())
  }

  #check(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    const begun = new Map<object, ReadonlySet<unknown>>()
    const hasBegun = (socket: Socket): boolean => {
      const server: object = Reflect.get(socket, 'server')
      const ofServer = begun.get(server) ?? findBegunRequests(server)
      begun.set(server, ofServer)
      return ofServer.has(socket)
    }
    for (const entry of this.#entries) this.#checkHeader(entry, now, hasBegun)
    if (this.#entries.size > 0) this.#schedule()
  }

  #checkHeader(entry: Entry, now: number, hasBegun: (socket: Socket) => boolean): void {
    const { connection } = entry
    const { socket, requests } = connection
    if (!entry.isProbed) {
      entry.isProbed = true
      connection.transport.setKeepAlive(true, PROBE_MS)
    }
    // It was not heard since the last check.
    if (connection.isResting && entry.headerSince !== undefined) entry.headerSince += CHECK_MS
    if (connection.isBusy || connection.isClosing) return
    if (requests !== entry.requests) {
      // A header may have begun in the read that brought the requests before it.
      entry.headerSince = hasBegun(socket) ? now : undefined
      entry.requests = requests
      connection.forgetAnswers()
    } else if (socket.bytesRead !== entry.bytes) {
      entry.headerSince ??= now
    }
    entry.bytes = socket.bytesRead
    if (entry.headerSince === undefined || now - entry.headerSince < HEADER_MS) return
    if (socket.bytesRead === 0 || entry.isSecuring) socket.destroy()
    else refuseSocket(socket, new HttpError('HEADER_TIMEOUT'), this.#clock)
  }
}

/**
 * The sockets of a server whose parser is within a request. No event tells that, and only the
 * parsers know it; Node itself asks them in the same way for its own time limits.
 */
function findBegunRequests(server: object): ReadonlySet<unknown> {
  const key = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connections',
  )
  const connections: unknown = key === undefined ? undefined : Reflect.get(server, key)
  if (typeof connections !== 'object' || connections === null) return new Set()
  if (!('active' in connections) || typeof connections.active !== 'function') return new Set()
  const parsers: readonly object[] = connections.active()
  return new Set(parsers.map((parser): unknown => Reflect.get(parser, 'socket')))
}

/** Who has to answer for a connection: whoever has logged in, or the address of a stranger. */
function ownerOf({ client, isExpendable, remoteAddress }: Connection): string | undefined {
  if (client !== undefined && client !== '') return `client ${client}`
  return isExpendable ? `address ${remoteAddress}` : undefined
}

/** The process may have three listeners, and a request may need a file besides its connection. */
const SHARE = 4

/**
 * How many connections a listener can afford, so that they do not use up all descriptors: without
 * one left nobody gets in, not even the owner, and no file can be opened. `Infinity` where the
 * system does not tell.
 *
 * @param limits Text of `/proc/<pid>/limits`; that of this process unless given.
 */
export function affordableConnections(limits: string = readLimits()): number {
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return limit === undefined ? Infinity : Math.floor(Number(limit) / SHARE)
}

function readLimits(): string {
  // On Windows this would be a path that everybody may make.
  if (process.platform !== 'linux') return ''
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Hidden from us. Node has raised the limit as far as it may.
    return ''
  }
}
