/**
 * What came over the bus, once it is known to be of the group.
 *
 * @module
 */

import type { Sealer } from './sealer.ts'
import { decodeSignal, type Signal } from './signal.ts'

export interface OpenedSignal {
  readonly signal: Signal
  readonly counter: number
}

/** `undefined` when the key does not open it, or when it is no signal. */
export function openSignal(
  sealer: Pick<Sealer, 'open'>,
  bytes: Uint8Array,
): OpenedSignal | undefined {
  const opened = sealer.open(bytes)
  if (opened === undefined) return undefined
  try {
    return { signal: decodeSignal(opened.payload), counter: opened.counter }
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
