/** The view that a handler has of one request, and the way to write routes down. @module */

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import type { FlatHeaders, Reply } from './reply.ts'

/** The parameters in a path pattern: `/file/{dataName}` has `dataName`. */
export type PathParams<Pattern extends string> =
  Pattern extends `${string}{${infer Name}}${infer Rest}`
    ? { readonly [Key in Name | keyof PathParams<Rest>]: string }
    : object

/** A request on its way to a handler. `Principal` is whoever the authentication found. */
export interface Call<Principal = unknown, Params = unknown> {
  /** For its headers; its body is read through the body readers only. */
  readonly request: IncomingMessage
  /** In the spelling of the request; HEAD stays HEAD, although the GET route answers it. */
  readonly method: string
  /** Normalised, still percent-encoded, without the query. */
  readonly path: string
  /** Percent-decoded. */
  readonly params: Params
  /** Parsed when first asked for. */
  readonly query: URLSearchParams
  /** The authority asked for, `host` or `host:port`; `undefined` in HTTP/1.0 without `Host`. */
  readonly host: string | undefined
  readonly principal: Principal
  /** Aborts when the client is gone. For anything that takes long; made when first asked for. */
  readonly signal: AbortSignal
  /** Measures how long the client takes. */
  readonly clock: Clock
  /** The client's address, as far as it can be trusted. */
  readonly address: string | undefined
  /** The same for all requests on a connection, and for nothing else. */
  readonly connection: object
  /** Whether a reply with status 101 and a live body turns the connection into a WebSocket. */
  readonly asksForWebSocket: boolean

  /**
   * Sends `100 Continue` to a client that waits for it. Body readers call it before they read; no
   * check of the request may come after it.
   */
  beginBody(): void

  /**
   * Sends an interim answer, whose status begins with 1 and is not 101. Left out where nobody would
   * get to see it: in HTTP/1.0, and behind an answer that is not complete.
   *
   * @returns Whether it was sent.
   */
  sendInterim(statusLine: string, headers: FlatHeaders): boolean

  /** Breaks the answer off, and closes its connection. */
  hangUp(): void

  /**
   * Counts bytes that stay in memory until the answer has ended; body readers do.
   *
   * @param most How many it may become.
   * @throws {HttpError} `OVERLOADED` when they are not few, and all requests hold too many.
   */
  holdBytes(count: number, most: number): void

  /**
   * Counts a body that is read as it comes, until it is answered; body readers do.
   *
   * @throws {HttpError} `OVERLOADED` when there are very many of one client, or of all.
   */
  holdStreamed(): void

  /**
   * Waits until it may have much memory, which a long body takes while it is read and served. It
   * has it for some seconds; after that it waits again.
   *
   * @param isWhole All of the body is here: the time starts again, since its client cannot draw it
   *   out any more.
   */
  waitForMemory(isWhole?: boolean): Promise<void>

  /** Lets others have much memory: no more of it is needed. */
  endTurn(): void
}

/** Answers one request, or throws. Answers synchronously when it can: promises cost throughput. */
export type Handler<Principal = unknown, Params = unknown> = (
  call: Call<Principal, Params>,
) => Reply | Promise<Reply>

/** The first step of a route, before it looks at the body. */
export type Preparation<Principal = unknown, Params = unknown> = (
  call: Call<Principal, Params>,
) => Promise<void>

/** One row of an endpoint table. */
export interface Route<Principal = unknown> {
  readonly method: string
  readonly pattern: string
  readonly handler: Handler<Principal, never>
  /**
   * A request that declares more bytes of body is refused with 413. 0: the route takes no body,
   * and one that comes all the same is left unread.
   */
  readonly maxBody: number
  /** Runs as soon as it is known who asks, also where the body is refused then. */
  readonly prepare?: Preparation<Principal, never> | undefined
}

/**
 * Writes one row of an endpoint table; the parameters of the handler are typed after the pattern.
 *
 * A segment of the pattern is a literal or one parameter. A path that fits a literal is never
 * given to a parameter. A GET row answers HEAD as well.
 *
 * @example
 * ```ts
 * route('PUT', '/file/{dataName}', ({ params }) => stage(params.dataName), { maxBody: 10 * GIB })
 * ```
 */
export function route<Principal, const Pattern extends string>(
  method: string,
  pattern: Pattern,
  handler: Handler<Principal, PathParams<Pattern>>,
  options: {
    readonly maxBody?: number
    readonly prepare?: Preparation<Principal, PathParams<Pattern>>
  } = {},
): Route<Principal> {
  return { method, pattern, handler, maxBody: 0, ...options }
}
