/**
 * Tells signals that are new from those that were seen, or came too late.
 *
 * Each member counts its signals, and its starts. A signal that is not after the last one of its
 * member is refused: a broker can drop signals, which shows as a gap, but not repeat or reorder
 * them.
 * @module
 */

import { Lru } from '../../lib/lru.ts'

/** Members that are remembered; who was silent for the longest time is forgotten first. */
export const MAX_ORIGINS = 1024

/** The last start of a member that was heard of. */
export interface KnownEpoch {
  readonly origin: string
  readonly epoch: number
}

/** A `gap`: it is new, and others were lost before it. A `start`: its member was started again. */
export type Verdict = 'new' | 'gap' | 'start' | 'seen'

interface Last {
  readonly epoch: number
  readonly counter: number
}

/** The last signal of each member. See docs/decisions/023-signals-on-a-bus.md. */
export class ReplayGuard {
  readonly #last = new Lru<string, Last>(MAX_ORIGINS)

  /** @param known From earlier; whatever its start was before is refused. */
  constructor(known: readonly KnownEpoch[]) {
    for (const { origin, epoch } of known) this.#last.set(origin, { epoch, counter: 0 })
  }

  /** @param counter Of the first signal after a start it is 1. */
  check(origin: string, epoch: number, counter: number): Verdict {
    const last = this.#last.get(origin)
    if (last !== undefined && epoch < last.epoch) return 'seen'
    if (last?.epoch === epoch && counter <= last.counter) return 'seen'
    this.#last.set(origin, { epoch, counter })
    // The first signal of a member says all that earlier ones could have said.
    if (last?.epoch !== epoch) return 'start'
    return last.counter === 0 || counter === last.counter + 1 ? 'new' : 'gap'
  }

  /** The starts to remember over a restart of our own, the longest silent member first. */
  get epochs(): readonly KnownEpoch[] {
    return [...this.#last.entries()].map(([origin, { epoch }]) => ({ origin, epoch }))
  }
}
