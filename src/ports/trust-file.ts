/** Port: what tells phones how to trust the certificate of a gateway. @module */

/** A page or a certificate that everybody may have. */
export interface TrustFile {
  readonly mediaType: string
  readonly body: Uint8Array
  /** Other header fields: names and values in turn. */
  readonly headers: readonly string[]
}

/** Finds what stands at a path below `/phone/trust`, which is `''` for the page itself. */
export type FindTrustFile = (path: string, by: TrustedBy) => TrustFile | undefined

/** How it is asked for. */
export interface TrustedBy {
  /** With HTTPS, by which alone it is seen to work. */
  readonly isSecure: boolean
  /** The authority asked for, `host` or `host:port`; `undefined` where a client names none. */
  readonly host: string | undefined
}
