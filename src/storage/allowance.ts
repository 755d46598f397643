/**
 * How many bytes an upload may bring, by the rules of whoever has to find room for it.
 *
 * @module
 */

/** Belongs to one upload, from before its first byte until it is stored or has failed. */
export interface Allowance {
  /** So many bytes are allowed now. */
  readonly bytes: number

  /**
   * Allows at least `bytes` in all.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  grow(bytes: number): Promise<void>

  /** Tells how much of it has been written. */
  wrote(bytes: number): void

  /** Ends it. Calling it twice is fine. */
  release(): void
}
