/** Choices that look random and can be made again. @module */

export type Random = ReturnType<typeof createRandom>

/** The same seed leads to the same choices. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** An integer from 0 on, less than `end`. */
  const below = (end: number): number => Math.floor(next() * end)
  return {
    below,
    chance: (probability: number): boolean => next() < probability,
    pick: <T>(choices: readonly T[]): T => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('Nothing to choose from')
      return choice
    },
  }
}
