/**
 * What a handler sees of one request, and how routes are written down.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { Reply } from './reply.ts'

/** The parameters in a path pattern: `/file/{dataName}` has `dataName`. */
export type PathParams<Pattern extends string> =
  Pattern extends `${string}{${infer Name}}${infer Rest}`
    ? { readonly [Key in Name | keyof PathParams<Rest>]: string }
    : unknown

/** A request on its way to a handler. `Principal` is whoever the authentication found. */
export interface Call<Principal = unknown, Params = unknown> {
  readonly request: IncomingMessage
  /** In the spelling of the request; HEAD stays HEAD, although the GET route answers it. */
  readonly method: string
  /** Normalised, still percent-encoded, without the query. */
  readonly path: string
  /** Percent-decoded. */
  readonly params: Params
  /** Parsed when first asked for. */
  readonly query: URLSearchParams
  readonly principal: Principal
  /** Aborts when the client is gone; hand it to anything that takes long. Made when first asked for. */
  readonly signal: AbortSignal
  /** The client's address, as far as it can be trusted. */
  readonly address: string | undefined
}

/** Answers one request, or throws. Answers synchronously when it can: promises cost throughput. */
export type Handler<Principal = unknown, Params = unknown> = (
  call: Call<Principal, Params>,
) => Reply | Promise<Reply>

/** One row of an endpoint table. */
export interface Route<Principal = unknown> {
  readonly method: string
  readonly pattern: string
  readonly handler: Handler<Principal, never>
  /** The most bytes of request body that are ever read; 0 when the route takes none. */
  readonly maxBody: number
}
