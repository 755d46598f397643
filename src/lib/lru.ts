/** Bounds a map: the entry that was not used for the longest time is forgotten first. @module */

/** A bounded map. Relies on `Map` keeping the order of insertion: the first key is the oldest. */
export class Lru<Key, Value extends NonNullable<unknown>> {
  readonly #entries = new Map<Key, Value>()
  readonly #capacity: number
  #newest: Key | undefined

  /** @param capacity The largest number of entries, at least 1. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns the value of `key`, which becomes the newest entry. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined || key === this.#newest) return value
    this.#entries.delete(key)
    this.#entries.set(key, value)
    this.#newest = key
    return value
  }

  /** Makes `key` the newest entry, and forgets the oldest entry when there are too many. */
  set(key: Key, value: Value): void {
    this.#newest = key
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#capacity) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  /** All entries, the longest unused first. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries()
  }

  clear(): void {
    this.#entries.clear()
  }
}
