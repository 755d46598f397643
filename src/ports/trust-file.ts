/** Port: what tells phones how to trust the certificate of a gateway. @module */

/** A page or a certificate that everybody may have. */
export interface TrustFile {
  readonly mediaType: string
  readonly body: Uint8Array
  /** Other header fields: names and values in turn. */
  readonly headers: readonly string[]
}
