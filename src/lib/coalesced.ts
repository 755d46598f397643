/** Runs a task on request, once at a time, and once more for all who ask meanwhile. @module */

/** A task that is never run twice at once. */
export class Coalesced {
  readonly #task: () => Promise<void>
  readonly #onFailure: (error: unknown) => void
  #isRequested = false
  #running: Promise<void> | undefined

  /** @param onFailure Gets what the task throws; requests that came meanwhile are forgotten. */
  constructor(task: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#task = task
    this.#onFailure = onFailure
  }

  /** Runs the task now, or once more right after the run under way. */
  request(): void {
    this.#isRequested = true
    this.#running ??= this.#run()
  }

  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // From the next turn on: what the task asks for at once must find this run under way.
    await Promise.resolve()
    try {
      while (this.#isRequested) {
        this.#isRequested = false
        await this.#task()
      }
    } catch (error) {
      this.#isRequested = false
      this.#onFailure(error)
    } finally {
      this.#running = undefined
    }
  }
}
