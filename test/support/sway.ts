/**
 * A real Wayland compositor without a screen, in a folder of its own.
 *
 * It refuses to run as root: then it runs as nobody, and root uses its socket anyway.
 * @module
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const NOBODY = 65534

const AS_NOBODY: readonly string[] = [
  'setpriv',
  '--reuid',
  String(NOBODY),
  '--regid',
  String(NOBODY),
  '--clear-groups',
  '--',
]

/** What tests of Wayland need. */
export const SWAY_TOOLS: readonly string[] = ['sway', 'setpriv', 'wl-copy', 'wl-paste']

export class Sway {
  /** What programs on this desktop have in their environment. */
  readonly env: Readonly<Record<'XDG_RUNTIME_DIR' | 'WAYLAND_DISPLAY', string>>
  #compositor: ChildProcess

  /**
   * Starts a compositor; resolves when it accepts connections.
   *
   * @param t The test with which the compositor ends; without it, somebody calls `stop`.
   */
  static async start(t?: TestContext): Promise<Sway> {
    const folder = await mkdtemp(join(tmpdir(), 'clipgate-sway-'))
    // Tells which socket it has, once it accepts connections.
    const config = 'xwayland disable\nexec echo "$WAYLAND_DISPLAY"\n'
    await writeFile(join(folder, 'config'), config, { mode: 0o644 })
    if (process.getuid?.() === 0) await chown(folder, NOBODY, NOBODY)
    const { compositor, display } = await startCompositor(folder)
    const sway = new Sway(folder, compositor, display)
    t?.after(() => sway.stop())
    return sway
  }

  private constructor(folder: string, compositor: ChildProcess, display: string) {
    this.env = { XDG_RUNTIME_DIR: folder, WAYLAND_DISPLAY: display }
    this.#compositor = compositor
  }

  /** Ends the compositor for good, and leaves nothing behind. */
  async stop(): Promise<void> {
    await this.crash()
    await rm(this.env.XDG_RUNTIME_DIR, { recursive: true, force: true })
  }

  /** Ends the compositor as a crash would: its socket stays. */
  async crash(): Promise<void> {
    if (this.#compositor.exitCode !== null || this.#compositor.signalCode !== null) return
    const exit = once(this.#compositor, 'exit')
    this.#compositor.kill('SIGKILL')
    await exit
  }

  /** Stops the compositor without ending it: it still accepts connections, and says nothing. */
  freeze(): void {
    this.#compositor.kill('SIGSTOP')
  }

  thaw(): void {
    this.#compositor.kill('SIGCONT')
  }

  /** Starts a new compositor on the same socket after `crash()`. */
  async restart(): Promise<void> {
    const { compositor, display } = await startCompositor(this.env.XDG_RUNTIME_DIR)
    this.#compositor = compositor
    const { WAYLAND_DISPLAY: wanted } = this.env
    if (display !== wanted) throw new Error(`Sway took ${display} instead of ${wanted}`)
  }
}

async function startCompositor(
  folder: string,
): Promise<{ readonly compositor: ChildProcess; readonly display: string }> {
  const sway = ['sway', '--config', join(folder, 'config')]
  const [command = '', ...args] = process.getuid?.() === 0 ? [...AS_NOBODY, ...sway] : sway
  const compositor = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      WLR_BACKENDS: 'headless',
      WLR_LIBINPUT_NO_DEVICES: '1',
      WLR_RENDERER: 'pixman',
    },
  })
  let complaints = ''
  compositor.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  // It ends without a line when the compositor could not start.
  for await (const display of createInterface({ input: compositor.stdout })) {
    compositor.stdout.resume()
    if (display !== '') return { compositor, display }
  }
  throw new Error(`Cannot start sway: ${complaints}`)
}
