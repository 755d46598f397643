/** Closes what a start has opened, in the opposite order. @module */

/** A list of closing steps. */
export class AsyncCleanup {
  readonly #steps: (() => Promise<void> | void)[] = []
  #running: Promise<void> | undefined

  add(step: () => Promise<void> | void): void {
    this.#steps.push(step)
  }

  /**
   * Runs every step once, also when one fails; whoever asks again waits for the same run.
   *
   * @throws The first failure, at the end.
   */
  run(): Promise<void> {
    this.#running ??= this.#runAll()
    return this.#running
  }

  async #runAll(): Promise<void> {
    const failures: unknown[] = []
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
