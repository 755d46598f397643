/**
 * Port: the message bus of a group, as the owner sees it.
 *
 * @module
 */

/** How the connection to the broker is doing. */
export type BusState =
  | 'connecting'
  /** Signals come and go. */
  | 'connected'
  /** There is no connection; it is tried again. The gateway works all the same. */
  | 'waiting'

/** What `clipgate status` tells of the bus; no key and no credential. */
export interface BusStatus {
  /** The brokers, one of which is used at a time. */
  readonly urls: readonly string[]
  readonly state: BusState
  /** What went wrong last, while it is not well again. */
  readonly error: string | undefined
  /** Fingerprint of the group key: the same for all members. */
  readonly group: string
  /** Other members that were heard of in the last ten minutes. */
  readonly members: number
  /** Signals that the group key did not open, since the start. */
  readonly refused: number
}
