/** Finds out whether what is printed gets anywhere, with a full disk or no reader. @module */

import { wordsOf } from '../lib/system-error.ts'
import { CommandError } from './command.ts'
import type { Shell } from './shell.ts'

/** Watches stdout from the moment it is made until it is closed. */
export class Printing {
  readonly #stdout: Shell['stdout']
  #failure: NodeJS.ErrnoException | undefined

  constructor({ stdout }: Shell) {
    this.#stdout = stdout
    stdout.on('error', this.#onError)
  }

  /** Waits until all is taken over, or nobody reads any more. @throws {CommandError} */
  async end(): Promise<void> {
    const code = await this.failure()
    if (code === undefined || code === 'EPIPE') return
    throw new CommandError(`Cannot print all of it: ${wordsOf(this.#failure)}`)
  }

  /** Why something was not taken over; `EPIPE` when there is no reader any more. */
  async failure(): Promise<string | undefined> {
    const stdout = this.#stdout
    // The event of a failure follows its callback.
    await new Promise((resolve) => stdout.write('', () => setImmediate(resolve)))
    return this.#failure && (this.#failure.code ?? 'unknown error')
  }

  close(): void {
    this.#stdout.off('error', this.#onError)
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    this.#failure ??= error
  }
}
