/**
 * A real Wayland compositor without a screen, in a folder of its own.
 *
 * It refuses to run as root: then it runs as nobody, and root uses its socket anyway.
 * @module
 */

import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startProgram, type RunningProgram } from './start-program.ts'

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

/** The line that it prints by its configuration. */
const DISPLAY = /^wayland-\d+(?=\n)/m

/** What tests of Wayland need. */
export const SWAY_TOOLS: readonly string[] = ['sway', 'setpriv', 'wl-copy', 'wl-paste']

export class Sway {
  /** What programs on this desktop have in their environment. */
  readonly env: Readonly<Record<'XDG_RUNTIME_DIR' | 'WAYLAND_DISPLAY', string>>
  #compositor: RunningProgram

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

  private constructor(folder: string, compositor: RunningProgram, display: string) {
    this.env = { XDG_RUNTIME_DIR: folder, WAYLAND_DISPLAY: display }
    this.#compositor = compositor
  }

  /** Ends the compositor for good, and leaves nothing behind. */
  async stop(): Promise<void> {
    await this.crash()
    await rm(this.env.XDG_RUNTIME_DIR, { recursive: true, force: true })
  }

  /** Ends the compositor as a crash would: its socket stays. */
  crash(): Promise<void> {
    return this.#compositor.kill()
  }

  /** Stops the compositor without ending it: it still accepts connections, and says nothing. */
  freeze(): void {
    this.#compositor.freeze()
  }

  thaw(): void {
    this.#compositor.thaw()
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
): Promise<{ readonly compositor: RunningProgram; readonly display: string }> {
  const sway = ['sway', '--config', join(folder, 'config')]
  const compositor = await startProgram(process.getuid?.() === 0 ? [...AS_NOBODY, ...sway] : sway, {
    ready: DISPLAY,
    env: {
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      WLR_BACKENDS: 'headless',
      WLR_LIBINPUT_NO_DEVICES: '1',
      WLR_RENDERER: 'pixman',
    },
  })
  const [display] = await compositor.says(DISPLAY)
  return { compositor, display }
}
