/** Counts how much each owner has of what all of them share. @module */

/** The shares of all owners. An owner that has nothing is forgotten. */
export class Shares {
  readonly #shares = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  get owners(): number {
    return this.#shares.size
  }

  /** The share of an owner; 0 for one that has nothing. */
  of(owner: string): number {
    return this.#shares.get(owner) ?? 0
  }

  /** Gives an owner more; a negative amount takes some back. @returns Its share from then on. */
  add(owner: string, amount: number): number {
    this.#total += amount
    const share = this.of(owner) + amount
    if (share === 0) this.#shares.delete(owner)
    else this.#shares.set(owner, share)
    return share
  }

  /** The owners that have something, with their shares, the one with most first. */
  largestFirst(): readonly (readonly [owner: string, share: number])[] {
    return [...this.#shares].sort(([, a], [, b]) => b - a)
  }
}
