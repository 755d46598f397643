/**
 * Choices that look random and can be made again.
 * @module
 */

export interface Random {
  /** An integer from 0 on, less than `end`. */
  below(end: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
}

/** The same seed leads to the same choices. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (choices) => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('Nothing to choose from')
      return choice
    },
  }
}
