/** Port: the message bus of a circle, and what its owner sees of it. @module */

/** How the connection to the broker is doing. */
export type BusState =
  | 'connecting'
  /** Signals come and go. */
  | 'connected'
  /** There is no connection; it is tried again. The gateway works without it. */
  | 'waiting'

/** The bus in the answer of `clipgate status`; no key and no credential. */
export interface BusStatus {
  /** The brokers, one of which is used at a time. */
  readonly urls: readonly string[]
  readonly state: BusState
  /** The last failure, until the bus works. */
  readonly error: string | undefined
  /** Fingerprint of the circle key: the same for all members. */
  readonly group: string
  /** Other members that were heard of in the last ten minutes. */
  readonly members: number
  /** Signals that the circle key did not open, since the start. */
  readonly refused: number
}

/** Hears of a bus. None of these throws. */
export interface BusListener {
  /** The connection is another: after an outage, nobody knows what was missed. */
  readonly onState: (state: BusState, error: string | undefined) => void
  /** Somebody published something. The bytes may be overwritten afterwards. */
  readonly onMessage: (bytes: Uint8Array) => void
}

/** A message bus that delivers to every listener, at most once, and does nothing more. */
export interface SignalBus {
  /** Connects, and connects again for ever, until {@link close}. */
  open(listener: BusListener): void
  /** Sends to all others. While there is no connection it does nothing, and keeps nothing. */
  publish(bytes: Uint8Array): void
  /** Ends the connection, and does not wait for a broker that does not answer. */
  close(): Promise<void>
}
