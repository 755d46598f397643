/**
 * Chance that can be repeated: the same seed makes every actor do the same, whatever the others do.
 * @module
 */

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Another sequence, which depends on nothing but this seed and the name. */
  static named(seed: number, name: string): Random {
    let hash = seed >>> 0
    // FNV-1a.
    for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 16_777_619)
    return new Random(hash)
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.int(0, choices.length - 1)] ?? choices[0]
  }

  /** Small numbers as often as large ones: each power of two has the same share. */
  size(min: number, max: number): number {
    return Math.round(min * (max / min) ** this.next())
  }
}
