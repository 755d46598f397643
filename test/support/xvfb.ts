/** A real X server without a screen, on a display of its own. @module */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'

/** Debian keeps servers in sbin, which is not on every user's path. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

/**
 * Where our displays begin. Whoever looks for a free display counts from 0, and would take one
 * whose server is down for the moment.
 */
const FIRST_DISPLAY: number = 1000 + 100 * (process.pid % 500)

let started = 0

export class Xvfb {
  /** As in `DISPLAY`: `:1007`. */
  readonly display: string
  #server: ChildProcess
  readonly #options: readonly string[]

  /**
   * Starts a server on a display of its own; resolves when it accepts connections.
   *
   * @param t The test with which the server ends; without it, somebody calls `stop`.
   */
  static async start(t?: TestContext, options: readonly string[] = []): Promise<Xvfb> {
    const display = `:${FIRST_DISPLAY + started++}`
    const xvfb = new Xvfb(await startServer(display, options), display, options)
    t?.after(() => xvfb.stop())
    return xvfb
  }

  private constructor(server: ChildProcess, display: string, options: readonly string[]) {
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
  async crash(): Promise<void> {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return
    const exit = once(this.#server, 'exit')
    this.#server.kill('SIGKILL')
    await exit
  }

  /** Stops the server without ending it: it still accepts connections, and says nothing. */
  freeze(): void {
    this.#server.kill('SIGSTOP')
  }

  thaw(): void {
    this.#server.kill('SIGCONT')
  }

  /** Starts a new server on the same display after `stop()` or `crash()`. */
  async restart(): Promise<void> {
    this.#server = await startServer(this.display, this.#options)
  }
}

async function startServer(display: string, more: readonly string[]): Promise<ChildProcess> {
  // `-displayfd` tells when it is ready; `-noreset` keeps it from starting over after each client.
  const options = ['-displayfd', '3', '-nolisten', 'tcp', '-noreset', '-screen', '0', '64x64x24']
  const server = spawn('Xvfb', [display, ...options, ...more], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH },
  })
  let complaints = ''
  server.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const ready = server.stdio[3]
  if (!(ready instanceof Readable)) throw new Error('Cannot start Xvfb: there is no pipe')
  // It ends without a line when the server could not start.
  for await (const line of createInterface({ input: ready })) {
    if (line !== '') return server
  }
  throw new Error(`Cannot start Xvfb: ${complaints}`)
}
