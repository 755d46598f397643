/**
 * A map that forgets what was not used for the longest time, so that it stays bounded.
 *
 * @module
 */

/** Relies on `Map` keeping the order of insertion: the first key is the oldest. */
export class Lru<Key, Value extends NonNullable<unknown>> {
  readonly #entries = new Map<Key, Value>()
  readonly #capacity: number

  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new RangeError(`Cannot make an LRU of ${capacity} entries`)
    }
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  /** The value of `key`, which becomes the newest. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** Makes `key` the newest, and drops the oldest when there are too many. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#capacity) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  /** The longest unused first. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries()
  }

  clear(): void {
    this.#entries.clear()
  }
}
