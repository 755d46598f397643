/** Lets callers that ask for the same work while it is under way share one run of it. @module */

/** Keeps no results: once a run has ended, the next caller starts another. */
export class SingleFlight<Key, Value> {
  readonly #flights = new Map<Key, Promise<Value>>()

  /** Resolves to the result of the run for `key` that is under way, or of a new one. */
  run(key: Key, work: () => Promise<Value>): Promise<Value> {
    const underWay = this.#flights.get(key)
    if (underWay !== undefined) return underWay
    const flight = work().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }
}
