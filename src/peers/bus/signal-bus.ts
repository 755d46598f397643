/**
 * What a group needs of a message bus: to everybody who listens, at most once, and nothing more.
 *
 * @module
 */

import type { BusState } from '../../ports/bus.ts'

/** None of these throws. */
export interface BusListener {
  /** The connection is another: after an outage, nobody knows what was missed. */
  readonly onState: (state: BusState, error: string | undefined) => void
  /** Somebody published something. The bytes may be overwritten afterwards. */
  readonly onMessage: (bytes: Uint8Array) => void
}

export interface SignalBus {
  /** Connects, and connects again for ever, until {@link close}. */
  open(listener: BusListener): void
  /** Sends to all others. While there is no connection it does nothing, and keeps nothing. */
  publish(bytes: Uint8Array): void
  /** Ends the connection, and does not wait for a broker that does not answer. */
  close(): Promise<void>
}
