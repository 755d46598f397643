/** A real X server without a screen, on a display of its own. @module */

import { rm } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { startProgram, type RunningProgram } from './start-program.ts'

/**
 * Where our displays begin. Whoever looks for a free display counts from 0, and would take one
 * whose server is down for the moment.
 */
const FIRST_DISPLAY: number = 1000 + 100 * (process.pid % 500)

let started = 0

export class Xvfb {
  /** As in `DISPLAY`: `:1007`. */
  readonly display: string
  #server: RunningProgram
  readonly #options: readonly string[]

  /**
   * Starts a server on a display of its own; resolves when it accepts connections.
   *
   * @param t The test with which the server ends; without it, somebody calls `stop`.
   */
  static async start(t?: TestContext, options: readonly string[] = []): Promise<Xvfb> {
    for (;;) {
      const display = `:${FIRST_DISPLAY + started++}`
      try {
        const xvfb = new Xvfb(await startServer(display, options), display, options)
        t?.after(() => xvfb.stop())
        return xvfb
      } catch (error) {
        // Another file of tests, whose process has the same remainder, has a server there.
        if (!(error instanceof Error && error.message.includes('server already running')))
          throw error
      }
    }
  }

  private constructor(server: RunningProgram, display: string, options: readonly string[]) {
    this.#server = server
    this.display = display
    this.#options = options
  }

  /** Ends the server for good, whatever state it is in, and leaves nothing behind. */
  async stop(): Promise<void> {
    await this.crash()
    const number = this.display.slice(1)
    for (const path of [`/tmp/.X${number}-lock`, `/tmp/.X11-unix/X${number}`]) {
      await rm(path, { force: true })
    }
  }

  /** Ends the server as a crash would: its socket stays. */
  crash(): Promise<void> {
    return this.#server.kill()
  }

  /** Stops the server without ending it: it still accepts connections, and says nothing. */
  freeze(): void {
    this.#server.freeze()
  }

  thaw(): void {
    this.#server.thaw()
  }

  /** Starts a new server on the same display after `stop()` or `crash()`. */
  async restart(): Promise<void> {
    this.#server = await startServer(this.display, this.#options)
  }
}

function startServer(display: string, more: readonly string[]): Promise<RunningProgram> {
  // `-displayfd` tells when it is ready; `-noreset` keeps it from starting over after each client.
  const options = ['-displayfd', '3', '-nolisten', 'tcp', '-noreset', '-screen', '0', '64x64x24']
  return startProgram(['Xvfb', display, ...options, ...more], { ready: /^\d+\n/ })
}
