/**
 * Clients that keep failing to log in: whose answers are held back, and for how long.
 *
 * Only refusals are ever slowed. There is no lock: what counts against an address shrinks by one a
 * second, and is forgotten after a minute.
 * @module
 */

import { Lru } from '../lib/lru.ts'
import type { Clock } from '../lib/clock.ts'

/** Refusals that cost no time: people mistype, and several devices may share an address. */
const FREE_REFUSALS = 5

/** The delay of the next one; doubles with each that follows. */
const FIRST_DELAY_MS = 16

const MAX_DELAY_MS = 500

/** Nothing counts for longer than this, since one is forgiven each second. */
const MAX_COUNT = 60

/** Beyond these, addresses that have not failed for the longest time are forgotten. */
const MAX_ADDRESSES = 1024

/** Answers that are held back at the same time, a few KiB each. */
const MAX_HELD = 1024

/**
 * Refusals that come together are told at so many different moments, a quarter earlier at most. All
 * at once, they and the requests that follow would keep everybody else waiting.
 */
const SPREAD = 32

interface Failures {
  readonly refusals: number
  /** Runs of Argon2id for credentials that turned out to be wrong, or are waited for. */
  readonly runs: number
  /** As of when, in milliseconds of the monotonic clock. */
  readonly at: number
}

/** The networks whose logins keep failing, and how long each is held back. */
export class FailingAddresses {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>
  readonly #failures = new Lru<string, Failures>(MAX_ADDRESSES)
  #held = 0

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#clock = clock
  }

  /**
   * Takes one of the runs of Argon2id that an address has for credentials that nobody has seen:
   * one a second, and at most sixty at once.
   *
   * @returns Whether there was one left.
   */
  takeRun(address: string): boolean {
    const failures = this.#read(address)
    if (failures.runs > MAX_COUNT - 1) return false
    this.#failures.set(address, { ...failures, runs: failures.runs + 1 })
    return true
  }

  /** Gives back a run that did not take place, or that found credentials to be right. */
  giveRunBack(address: string): void {
    const failures = this.#read(address)
    this.#failures.set(address, { ...failures, runs: Math.max(0, failures.runs - 1) })
  }

  /**
   * Counts a refusal, and resolves when it may be told.
   *
   * @returns Whether it was held back for as long as it should have been; false, at once, when
   *   too many are.
   */
  async holdBack(address: string): Promise<boolean> {
    const failures = this.#read(address)
    const refusals = Math.min(failures.refusals + 1, MAX_COUNT)
    this.#failures.set(address, { ...failures, refusals })
    const delayMs = delayOf(refusals) * (1 - (this.#held % SPREAD) / (4 * SPREAD))
    if (delayMs === 0) return true
    if (this.#held >= MAX_HELD) return false
    this.#held++
    await new Promise<void>((resolve) => this.#clock.after(delayMs, resolve))
    this.#held--
    return true
  }

  #read(address: string): Failures {
    const at = this.#clock.monotonic()
    const past = this.#failures.get(address) ?? { refusals: 0, runs: 0, at }
    const forgiven = (at - past.at) / 1000
    return {
      refusals: Math.max(0, past.refusals - forgiven),
      runs: Math.max(0, past.runs - forgiven),
      at,
    }
  }
}

function delayOf(refusals: number): number {
  if (refusals <= FREE_REFUSALS) return 0
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (Math.ceil(refusals) - FREE_REFUSALS - 1))
}
