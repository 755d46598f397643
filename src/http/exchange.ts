/**
 * A request and its answer while the kernel works on them: the `Call` that handlers see, and what
 * only the kernel sees.
 *
 * What most requests never ask for is made when it is asked for.
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import type { HeldTurn, MemoryTurn } from '../lib/memory-turn.ts'
import type { Call } from './call.ts'
import { findClientAddress, type AddressTest } from './client-address.ts'
import type { Connection } from './connection.ts'
import { SHORT_BYTES, SMALL_BYTES, type HeldBytes } from './held-bytes.ts'
import { EXPECTS_CONTINUE, type Target } from './request-head.ts'
import type { FlatHeaders } from './reply.ts'

/** The state that all exchanges of a listener share. */
export interface SharedByExchanges {
  readonly clock: Clock
  /** Absent where no proxy is trusted. */
  readonly isTrustedProxy: AddressTest | undefined
  readonly heldBytes: HeldBytes
  readonly memoryTurn: MemoryTurn
}

/** One request and its answer. */
export class Exchange implements Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  readonly method: string
  /** Whether its header says more than what is asked for; see `request-head.ts`. */
  readonly isDecisive: boolean
  path = ''
  params: unknown
  principal: unknown
  /** Name of the principal, for what each may have a share of. */
  client = ''
  readonly #shared: SharedByExchanges
  #search = ''
  #authority: string | undefined
  #query: URLSearchParams | undefined
  #gone: AbortController | undefined
  #bodyBegun = false
  /** Bytes that stay in memory until the answer has ended. */
  #held = 0
  /** How many of them it may hold without asking. */
  #reserved = SMALL_BYTES
  #giveBack: (() => void) | undefined
  #turn: HeldTurn | undefined
  #endStreamed: (() => void) | undefined

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    shared: SharedByExchanges,
    isDecisive: boolean,
  ) {
    this.request = request
    this.response = response
    this.connection = connection
    this.method = request.method ?? ''
    this.isDecisive = isDecisive
    this.#shared = shared
  }

  get clock(): Clock {
    return this.#shared.clock
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search)
    return this.#query
  }

  get host(): string | undefined {
    return this.#authority ?? this.request.headers.host
  }

  get address(): string | undefined {
    const { remoteAddress } = this.connection
    const { isTrustedProxy } = this.#shared
    if (isTrustedProxy === undefined || remoteAddress === undefined) return remoteAddress
    if (!isTrustedProxy(remoteAddress)) return remoteAddress
    const forwarded = this.request.headers['x-forwarded-for']
    const joined = Array.isArray(forwarded) ? forwarded.join() : forwarded
    return findClientAddress(remoteAddress, joined, isTrustedProxy)
  }

  get asksForWebSocket(): boolean {
    return this.connection.asksForWebSocket
  }

  get signal(): AbortSignal {
    this.#gone ??= this.#watchClient()
    return this.#gone.signal
  }

  /** The client left, or the answer was broken off. */
  get isGone(): boolean {
    return this.response.destroyed || this.connection.socket.destroyed
  }

  /** There is a request body, and it has not been read to its end. */
  get hasUnreadBody(): boolean {
    if (!this.isDecisive) return false
    const { headers, readableEnded } = this.request
    if (readableEnded) return false
    if (headers['transfer-encoding'] !== undefined) return true
    const length = headers['content-length']
    return length !== undefined && Number(length) !== 0
  }

  beginBody(): void {
    if (this.#bodyBegun) return
    this.#bodyBegun = true
    const { expect, 'content-length': length } = this.request.headers
    if (expect === undefined || this.request.httpVersionMinor === 0) return
    if (length === '0' || !EXPECTS_CONTINUE.test(expect)) return
    // Also to a client that did not wait: Node closes the connection after an answer without it.
    this.response.writeContinue()
  }

  sendInterim(statusLine: string, headers: FlatHeaders): boolean {
    const { socket, headersSent, destroyed } = this.response
    if (this.request.httpVersionMinor === 0 || headersSent || destroyed) return false
    if (socket === null || !socket.writable) return false
    const fields = headers.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'))
    socket.write(`HTTP/1.1 ${statusLine}\r\n${fields.join('')}\r\n`, 'latin1')
    return true
  }

  hangUp(): void {
    this.connection.breakOff(this.response)
  }

  holdBytes(count: number, most: number): void {
    this.#held += count
    if (this.#held <= this.#reserved) return
    if (this.#giveBack === undefined) {
      this.connection.onEnd(this.response, () => this.releaseBytes())
    }
    this.releaseBytes()
    // A body that does not say how long it is gets all that it may have, once it is not short.
    const wanted = this.#held <= SHORT_BYTES ? Math.min(most, SHORT_BYTES) : most
    this.#reserved = Math.max(this.#reserved, wanted)
    this.#giveBack = this.#shared.heldBytes.reserve(this.client, this.#reserved)
  }

  holdStreamed(): void {
    this.#endStreamed ??= this.#shared.heldBytes.reserveStreamed(this.client)
  }

  async waitForMemory(isWhole = false): Promise<void> {
    if (isWhole ? this.#turn?.renew() === true : this.#turn?.isOver === false) return
    this.#turn = await this.#shared.memoryTurn.take(this.signal)
  }

  endTurn(): void {
    this.#turn?.release()
    this.#endStreamed?.()
  }

  /** Gives back what it holds: nothing that was read is needed any more, nor sent back. */
  releaseBytes(): void {
    this.#giveBack?.()
  }

  /** Counts bytes that other answers may have too; see `HeldBytes.share`. */
  shareBytes(bytes: Uint8Array): void {
    const end = this.#shared.heldBytes.share(bytes, () => this.hangUp())
    if (end !== undefined) this.connection.onEnd(this.response, end)
  }

  setTarget({ path, search, authority }: Target): void {
    this.path = path
    this.#search = search
    this.#authority = authority
  }

  /** Ends the connection after the answer. */
  closeAfterwards(): void {
    this.response.shouldKeepAlive = false
  }

  #watchClient(): AbortController {
    const gone = new AbortController()
    if (this.isGone) gone.abort()
    const forget = this.connection.onGone(() => gone.abort())
    this.response.once('finish', forget)
    return gone
  }
}
