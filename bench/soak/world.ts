/**
 * What the actors of a soak share.
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from '../../src/ports/admin.ts'
import type { SoakPhone } from './phone.ts'
import { Random } from './random.ts'
import type { Tally } from './tally.ts'

export interface World {
  readonly port: number
  readonly gateway: string
  readonly admin: Admin
  readonly phones: readonly SoakPhone[]
  readonly tally: Tally
  readonly seed: number
  /** For programs that are run besides. */
  readonly folder: string
  /** Aborts when the actors are to end. */
  readonly signal: AbortSignal
}

/** One of many that use the daemon at once. */
export interface Actor {
  /** What it is counted as. */
  readonly who: string
  /** How long it waits between two steps, in milliseconds: from, to. */
  readonly pause: readonly [number, number]
  /** Does one thing from beginning to end. */
  readonly step: (random: Random) => Promise<void>
}

/** Lets an actor do its thing again and again. What it throws is a fault. */
export async function act(world: World, actor: Actor, name: string): Promise<void> {
  const { tally, seed, signal } = world
  const random = Random.named(seed, name)
  const {
    who,
    pause: [from, to],
    step,
  } = actor
  while (!signal.aborted) {
    try {
      await step(random)
    } catch (error) {
      // Whoever is told to end may be in the middle of something.
      if (!signal.aborted) tally.fault(who, error instanceof Error ? error.message : String(error))
    }
    await pause(signal, random.int(from, to))
  }
}

/** Resolves early when the signal aborts. */
export async function pause(signal: AbortSignal, ms: number): Promise<void> {
  // The reason to wake early is known to whoever aborts.
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
