/** Port: the bytes of files that are on their way right now. @module */

/** One request that brings or takes the bytes of a file. */
export interface Transfer {
  /** `in`: from a device to the daemon. */
  readonly direction: 'in' | 'out'
  readonly deviceId: string
  readonly name: string
  /** In bytes; `undefined` when the sender did not say. */
  readonly total: number | undefined
  /** How far it is, in bytes, with what earlier requests have brought. */
  bytes(): number
}

/** The files that are on their way. */
export interface Transfers {
  /** Adds a transfer. @returns Takes it away when it has ended, however that came. */
  begin(transfer: Transfer): () => void

  /** Those of files that take a moment; the oldest first. */
  readonly list: readonly Transfer[]

  /**
   * Calls `listener` when one begins or ends. How far they are is asked for, and told to nobody.
   *
   * @returns Ends the subscription.
   */
  onChange(listener: () => void): () => void
}
