/**
 * Turns endpoint tables into a `node:http` listener: each request gets exactly one answer, and the
 * checks come in the order of the contract.
 *
 * Nothing can be reached without a principal but what stands in the table of public routes.
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { systemClock, type Clock } from '../lib/clock.ts'
import { MemoryTurn } from '../lib/memory-turn.ts'
import type { Call, Handler, Preparation, Route } from './call.ts'
import { createAddressTest } from './client-address.ts'
import { connectionOf, Logins } from './connection.ts'
import { Exchange, type SharedByExchanges } from './exchange.ts'
import { refuseForeignPages, type PageCall } from './foreign-pages.ts'
import {
  comesFromPage,
  decodeSegments,
  findFramingFault,
  hasDecisiveFields,
  parseTarget,
  refuseBody,
} from './request-head.ts'
import { HeldBytes } from './held-bytes.ts'
import { HttpError, problemReply } from './http-error.ts'
import type { Reply } from './reply.ts'
import { Router, type Match } from './router.ts'
import { Sender } from './send.ts'
import { drain } from './silence.ts'

/** The tables and the rules of a listener. */
export interface ListenerOptions<Principal> {
  /** Answered to anybody, before anything else is looked at. */
  readonly publicRoutes: readonly Route<undefined>[]
  /** Answered to principals only. */
  readonly routes: readonly Route<Principal>[]
  /**
   * Finds out whose request it is, or throws. `params` is not there yet. Answers synchronously
   * when it can.
   */
  readonly authenticate: (call: Call) => Principal | Promise<Principal>
  /** Throws when a principal has lost its right since `authenticate` has found it. */
  readonly recheck?: ((principal: Principal) => void) | undefined
  /**
   * Tells principals apart: how they share what there is, and whose requests and connections end
   * together; see {@link Listener.cut}. By default they count as one.
   */
  readonly nameOf?: ((principal: Principal) => string) | undefined
  /** While true, requests are refused with 503, and connections end after their answers. */
  readonly isDraining?: (() => boolean) | undefined
  /** Addresses and subnets of proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: readonly string[] | undefined
  /** Base URL under which browsers may know us; see `foreign-pages.ts`. */
  readonly publicUrl?: string | undefined
  /** Measures how long clients are silent; the clock of the machine unless given. */
  readonly clock?: Clock | undefined
  /** Gives failures from below their place in the protocol; the rest is `INTERNAL`. */
  readonly toHttpError?: ((thrown: unknown, refused: RefusedRequest) => HttpError) | undefined
  /** Makes the answer to a failure, where that is not the problem of it. */
  readonly replyTo?: ((error: HttpError, refused: RefusedRequest) => Reply | undefined) | undefined
  /**
   * Called with every `INTERNAL` failure. Its `cause` says what happened; the client was shown `id`
   * and nothing else.
   */
  readonly onFailure: (error: HttpError, id: string) => void
}

/** The request for which something failed. */
export interface RefusedRequest {
  readonly method: string
  readonly path: string
  readonly request: Pick<IncomingMessage, 'headers'>
  /** The name of its principal; empty while nobody knows whose it is. */
  readonly client: string
}

/** The listener, and a hold on the connections that principals have logged in on. */
export interface Listener extends RequestListener {
  /**
   * Breaks off every answer that is owed to an owner, in this tick, and closes the connections on
   * which nobody else has logged in. What a handler does for it goes on until it notices.
   *
   * @returns Settles when they are closed.
   */
  cut(owner: string): Promise<void>
}

/**
 * Makes the listener.
 *
 * @returns A listener for `request`, `checkContinue` and `checkExpectation` events. It never
 *   throws. With `request` events alone, Node tells clients to send their body before anything of
 *   the request has been checked.
 */
export function createListener<Principal>(options: ListenerOptions<Principal>): Listener {
  const kernel = new Kernel(options)
  const listener: RequestListener = (request, response) => kernel.serve(request, response)
  return Object.assign(listener, { cut: (owner: string) => kernel.logins.cut(owner) })
}

class Kernel<Principal> {
  readonly logins = new Logins()
  readonly #router: Router
  readonly #authenticate: ListenerOptions<Principal>['authenticate']
  readonly #recheck: (principal: Principal) => void
  readonly #nameOf: (principal: Principal) => string
  readonly #isDraining: () => boolean
  readonly #refuseForeignPages: (call: PageCall) => void
  readonly #toHttpError: (thrown: unknown, refused: RefusedRequest) => HttpError
  readonly #replyTo: NonNullable<ListenerOptions<Principal>['replyTo']>
  readonly #onFailure: ListenerOptions<Principal>['onFailure']
  readonly #sender: Sender
  readonly #shared: SharedByExchanges

  constructor(options: ListenerOptions<Principal>) {
    this.#router = new Router(options.routes, options.publicRoutes)
    this.#authenticate = options.authenticate
    this.#recheck = options.recheck ?? (() => {})
    this.#nameOf = options.nameOf ?? (() => '')
    this.#isDraining = options.isDraining ?? (() => false)
    this.#refuseForeignPages = refuseForeignPages(options.publicUrl)
    this.#toHttpError = options.toHttpError ?? toHttpError
    this.#replyTo = options.replyTo ?? (() => undefined)
    this.#onFailure = options.onFailure
    const { clock = systemClock, trustedProxies = [] } = options
    this.#sender = new Sender(clock)
    this.#shared = {
      clock,
      isTrustedProxy: trustedProxies.length > 0 ? createAddressTest(trustedProxies) : undefined,
      heldBytes: new HeldBytes(),
      memoryTurn: MemoryTurn.of(clock),
    }
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const connection = connectionOf(request.socket)
    const isDecisive = hasDecisiveFields(request.rawHeaders)
    if (isDecisive) connection.joinPieces(request)
    // We said that we would close, or that we do not understand; the client may not count on more.
    if (connection.isClosing || connection.refusedAt !== undefined) {
      // Unread when the connection is closed, it would reset that, with the answers on their way.
      if (isDecisive) drain({ request, ...this.#shared }, () => {})
      return connection.leaveOut()
    }
    connection.inTurn(response, () => {
      if (connection.isClosing || connection.socket.destroyed) return
      this.#begin(new Exchange(request, response, connection, this.#shared, isDecisive))
    })
  }

  #begin(exchange: Exchange): void {
    try {
      const sent = this.#answer(exchange)
      if (sent instanceof Promise) sent.catch((thrown: unknown) => this.#fail(exchange, thrown))
    } catch (thrown) {
      this.#fail(exchange, thrown)
    }
  }

  #answer(exchange: Exchange): void | Promise<void> {
    const { request } = exchange
    const fault = findFramingFault(request, exchange.isDecisive)
    if (fault !== undefined) {
      exchange.closeAfterwards()
      throw fault
    }

    // Most targets are a literal path as it stands in a table: nothing to take apart.
    const target = request.url ?? ''
    let match = this.#router.matchLiteral(target)
    if (match === undefined) {
      exchange.setTarget(parseTarget(exchange.method, target))
      match = this.#router.match(exchange.path)
    } else {
      exchange.path = target
    }
    if (match?.resource.isPublic === true) return this.#handle(exchange, match)

    if (this.#isDraining()) throw new HttpError('DRAINING')
    const principal = this.#authenticate(exchange)
    return principal instanceof Promise
      ? exchange.connection.takeInHand(principal).then((found) => {
          this.#recheck(found)
          return this.#serveTo(found, exchange, match)
        })
      : this.#serveTo(principal, exchange, match)
  }

  #serveTo(
    principal: Principal,
    exchange: Exchange,
    match: Match | undefined,
  ): void | Promise<void> {
    exchange.principal = principal
    exchange.client = this.#nameOf(principal)
    exchange.connection.client = exchange.client
    this.logins.note(exchange.client, exchange.connection, exchange.response)
    if (comesFromPage(exchange.request)) this.#refuseForeignPages(exchange)
    if (match === undefined) {
      throw new HttpError(decodeSegments(exchange.path) === undefined ? 'BAD_PATH' : 'NOT_FOUND')
    }
    return this.#handle(exchange, match)
  }

  #handle(exchange: Exchange, { resource, params }: Match): void | Promise<void> {
    const row = resource.methods.get(exchange.method)
    if (row === undefined) {
      throw new HttpError('METHOD_NOT_ALLOWED', { headers: ['Allow', resource.allow] })
    }
    exchange.params = params
    // The principal is what the table asks for, and the parameters are those of the pattern.
    const ready = (row.prepare as Preparation | undefined)?.(exchange)
    if (ready === undefined) return this.#run(exchange, row)
    return exchange.connection.takeInHand(ready).then(() => this.#run(exchange, row))
  }

  #run(
    exchange: Exchange,
    { handler, maxBody }: Pick<Route<never>, 'handler' | 'maxBody'>,
  ): void | Promise<void> {
    if (exchange.isDecisive) refuseBody(exchange.request, maxBody)
    const reply = (handler as Handler)(exchange)
    return reply instanceof Promise
      ? exchange.connection.takeInHand(reply).then((value) => this.#send(exchange, value))
      : this.#send(exchange, reply)
  }

  #send(exchange: Exchange, reply: Reply): void | Promise<void> {
    exchange.endTurn()
    if (this.#isDraining()) exchange.closeAfterwards()
    return this.#sender.send(exchange, reply)
  }

  #fail(exchange: Exchange, thrown: unknown): void {
    const { response } = exchange
    exchange.endTurn()
    // The answer may take its time, while the client sends what nobody reads any more.
    exchange.releaseBytes()
    try {
      const error = this.#toHttpError(thrown, exchange)
      const id = error.code === 'INTERNAL' ? this.#report(exchange, error) : undefined
      // Once headers are on the wire, all that is left is to break the promise visibly.
      if (response.headersSent) response.destroy()
      else void this.#send(exchange, this.#replyTo(error, exchange) ?? problemReply(error, id))
    } catch (cause) {
      // It was on the way to telling the client about an error before it.
      response.destroy()
      this.#reportLast(cause)
    }
  }

  /** Reports what failed on the way to telling the client about a failure. */
  #reportLast(cause: unknown): void {
    try {
      this.#onFailure(new HttpError('INTERNAL', { cause }), randomBytes(6).toString('hex'))
    } catch {
      // It is the report that fails: nobody is left to be told.
    }
  }

  /** @returns The id that the client gets to see. */
  #report(exchange: Exchange, error: HttpError): string | undefined {
    // The client left, and what worked for it was told so: nothing has failed.
    if (exchange.isGone && isAbort(error.cause)) return undefined
    const id = randomBytes(6).toString('hex')
    this.#onFailure(error, id)
    return id
  }
}

function toHttpError(thrown: unknown): HttpError {
  return thrown instanceof HttpError ? thrown : new HttpError('INTERNAL', { cause: thrown })
}

function isAbort(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AbortError'
}
