/** The hashes that identify bytes, under any name. @module */

/** Digests of the same bytes, 64 lower-case hex digits each. */
export interface Digests {
  readonly sha256: string
  readonly blake3: string
}
