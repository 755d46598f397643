/**
 * Handlers return replies; only `send.ts` writes to a socket.
 *
 * A reply is plain data, so that a handler can be tested without a socket, and one place knows
 * about headers already sent, clients that went away, and errors thrown halfway.
 * @module
 */

import type { Pieces } from '../lib/long-text.ts'

/** Names and values in turn, as `node:http` takes them fastest. */
export type FlatHeaders = readonly string[]

/** Bytes that are read while they are sent; structurally a `Blob` of the ports. */
export interface BlobBody {
  readonly size: number
  open(): Promise<OpenBlobBody>
}

/** A blob while it is sent; structurally an `OpenBlob` of the ports. */
export interface OpenBlobBody {
  read(target: Uint8Array, position: number): Promise<number>
  close(): Promise<void>
}

/** A body that goes on until somebody ends it. Never opened for HEAD. */
export interface LiveBody {
  /** Called once, in the tick in which the header is written. */
  attach(wire: Wire): void
}

/** Where a live body goes. */
export interface Wire {
  /** @param onWritten Called when the chunk has left this program; not when the client is gone. */
  write(chunk: Uint8Array | Pieces, onWritten: () => void): void
  /** Ends the answer; at once, whether or not the client reads. */
  end(): void
  /** Calls back once when the client is gone, unless the answer ended before. */
  onGone(callback: () => void): void
  /** Calls back with what the client sends, which it may only behind a 101. */
  onData(callback: (chunk: Uint8Array) => void): void
  /** Reads nothing more of what the client sends; what was read already waits. */
  pause(): void
  /** Reads on. */
  resume(): void
}

/**
 * One response, as a value. Length, range and validator headers are the kernel's affair; the reply
 * may carry a `Cache-Control` of its own.
 */
export interface Reply {
  readonly status: number
  readonly headers?: FlatHeaders
  readonly body?: string | Uint8Array | Pieces | BlobBody | LiveBody
  /** Quoted entity tag. A GET or HEAD reply with one is sent conditionally. */
  readonly etag?: string
}

/** A reply that is not a stream. */
export type WholeReply = Reply & { readonly body?: string | Uint8Array | Pieces }

/** Extras for the functions below. */
export interface ReplyOptions {
  readonly status?: number
  /** Besides the `Content-Type`. */
  readonly headers?: FlatHeaders
  readonly etag?: string
}

/** A JSON reply. */
export function json(value: unknown, options: ReplyOptions = {}): Reply {
  return typed('application/json', JSON.stringify(value), options)
}

/** A JSON reply whose body is encoded. */
export function encodedJson(body: string | Pieces): Reply {
  return typed('application/json', body, {})
}

/** A plain text reply, in UTF-8. */
export function text(body: string, options: ReplyOptions = {}): Reply {
  return typed('text/plain; charset=utf-8', body, options)
}

/** A reply without a body. */
export function empty(status: number, headers: FlatHeaders = []): Reply {
  return { status, headers }
}

function typed(contentType: string, body: string | Pieces, options: ReplyOptions): Reply {
  const { status = 200, headers = [], etag } = options
  const reply = { status, headers: ['Content-Type', contentType, ...headers], body }
  return etag === undefined ? reply : { ...reply, etag }
}

/** Header fields that the kernel adds to each reply. */
const COMMON: FlatHeaders = [
  'X-Content-Type-Options',
  'nosniff',
  // Else a page of another site shows what its browser loads with a login that it remembers.
  'Cross-Origin-Resource-Policy',
  'same-origin',
]

/** Nobody may keep what somebody copied, neither proxies nor browser caches. */
const NOT_STORED: FlatHeaders = [...COMMON, 'Cache-Control', 'no-store']

const NO_HEADERS: FlatHeaders = []

/**
 * All header fields of a reply.
 *
 * @param length Bytes of body; `undefined` where there is no `Content-Length`.
 */
export function allHeaders(
  { headers = NO_HEADERS, etag }: Reply,
  length: number | undefined,
  more: FlatHeaders = NO_HEADERS,
): string[] {
  const all = [...(hasCacheControl(headers) ? COMMON : NOT_STORED), ...headers, ...more]
  if (etag !== undefined) all.push('ETag', etag)
  if (length !== undefined) all.push('Content-Length', String(length))
  return all
}

const constants = new WeakMap<Reply, string[]>()

/**
 * Makes a reply that is sent over and over cheaper to send. A copy of it is a reply like any other.
 *
 * @param reply Nobody may change it any more.
 */
export function constantReply(reply: WholeReply): Reply {
  constants.set(reply, allHeaders(reply, lengthOf(reply.status, reply.body)))
  return reply
}

/** All header fields of a reply that is not a stream. */
export function wholeHeaders(reply: WholeReply): string[] {
  return constants.get(reply) ?? allHeaders(reply, lengthOf(reply.status, reply.body))
}

/** `undefined` where there is no `Content-Length`. */
function lengthOf(status: number, body: WholeReply['body']): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (body !== undefined) return body.length
  return status === 204 ? undefined : 0
}

/** A 304 describes no content of its own: RFC 9110 section 15.4.5. */
export function withoutContentHeaders(headers: FlatHeaders = NO_HEADERS): FlatHeaders {
  const kept: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!/^content-/i.test(name)) kept.push(name, headers[index + 1] ?? '')
  }
  return kept
}

function hasCacheControl(headers: FlatHeaders): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]
    if (name?.length === 13 && name.toLowerCase() === 'cache-control') return true
  }
  return false
}
