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
  /** Unix milliseconds. */
  readonly lastModified?: number
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
