/**
 * Handlers return replies; only `send.ts` writes to a socket.
 *
 * @module
 */

/** Names and values in turn, as `node:http` takes them fastest. */
export type FlatHeaders = readonly string[]

/** Bytes that are read while they are sent; structurally a `Blob` of the ports. */
export interface BlobBody {
  readonly size: number
  open(): Promise<{
    read(target: Uint8Array, position: number): Promise<number>
    close(): Promise<void>
  }>
}

/** One response, as a value. */
export interface Reply {
  readonly status: number
  readonly headers?: FlatHeaders
  readonly body?: string | Uint8Array | BlobBody
  /** Quoted entity tag. A GET or HEAD reply with one is sent conditionally. */
  readonly etag?: string
  /** Unix milliseconds. */
  readonly lastModified?: number
}
