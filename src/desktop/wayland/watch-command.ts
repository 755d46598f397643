/**
 * How the Wayland clipboard is watched: one `wl-paste --watch`, which runs a command at each copy.
 *
 * The command prints a line of the helper protocol, and does not read what was copied.
 * @module
 */

import { basename } from 'node:path'
import { KIB } from '../../core/limits.ts'
import { findProgram } from '../../lib/find-program.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HelperProcessOptions } from '../helper/helper-process.ts'
import { UnusableYet } from '../clipboard-errors.ts'
import { AWAY, findDataControl, NO_DATA_CONTROL, waylandSocket } from './data-control.ts'
import { runTool } from './run-tool.ts'

export type Watch = Pick<
  HelperProcessOptions,
  'name' | 'command' | 'args' | 'maxLineBytes' | 'explain' | 'untilReady'
>

const NAME = 'wl-paste'

/** From 2.2 on wl-paste tells of an empty clipboard as well, which nobody has copied. */
const TELL = 'case $CLIPBOARD_STATE in nil | clear) ;; *) echo \'{"event":"changed"}\' ;; esac'

const WATCH: readonly string[] = ['--watch', 'sh', '-c', TELL]

/** The first wl-clipboard that knows the newer protocol. */
const KNOWS_EXT: readonly [major: number, minor: number] = [2, 3]

const TOO_OLD =
  'does not know the data-control protocol of this compositor: install wl-clipboard ' +
  `${KNOWS_EXT.join('.')} or newer`

/**
 * A wl-paste of no known version may not know the newer protocol, and ends at once when it finds no
 * other. It never says that it knows it.
 */
const SETTLE_MS = 1000

/** The part of our environment that the tools get to see. */
export function toolEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, XDG_RUNTIME_DIR, WAYLAND_DISPLAY } = env
  return { PATH, HOME, TMPDIR, XDG_RUNTIME_DIR, WAYLAND_DISPLAY }
}

/**
 * Makes sure that the clipboard can be watched, and says how.
 *
 * @throws {UnusableYet} When wl-clipboard is not installed, or too old for this compositor. The
 *   message is for people, as are the others.
 * @throws {Error} When there is no compositor, or it lacks the data-control protocol.
 */
export async function prepareWatch(env: NodeJS.ProcessEnv, clock: Clock): Promise<Watch> {
  const socket = waylandSocket(env)
  const offered = await findDataControl(socket, { clock })
  for (const tool of ['wl-paste', 'wl-copy']) {
    if ((await findProgram(tool, env)) === undefined) {
      throw new UnusableYet(`"${tool}" is not installed: install the package wl-clipboard`)
    }
  }
  if (offered === 'ext') await checkVersion(env, clock)
  const [command = NAME, ...args] = [...(await endsWithUs(env)), NAME, ...WATCH]
  return {
    name: NAME,
    command,
    args,
    maxLineBytes: KIB,
    explain: (line) =>
      explain(line, offered === 'ext' ? `wl-clipboard ${TOO_OLD}` : NO_DATA_CONTROL),
    untilReady: async (signal) => {
      const protocol = await findDataControl(socket, { clock, signal })
      if (protocol === 'ext') await new Promise<void>((resolve) => clock.after(SETTLE_MS, resolve))
    },
  }
}

/** Fails where the version is known, and too old for the newer protocol. */
async function checkVersion(env: NodeJS.ProcessEnv, clock: Clock): Promise<void> {
  const { output } = await runTool(NAME, ['--version'], { env, clock, maxBytes: KIB })
  const text = Buffer.from(output).toString('latin1')
  const [found, major, minor] = /^wl-clipboard (\d+)\.(\d+)[.\d]*/.exec(text) ?? []
  if (found === undefined) return
  const [[needed, orMinor], version] = [KNOWS_EXT, Number(major)]
  if (version < needed || (version === needed && Number(minor) < orMinor)) {
    throw new UnusableYet(`${found} ${TOO_OLD}`)
  }
}

/**
 * wl-paste would outlive a daemon that is killed. Not every setpriv can help it: that of BusyBox,
 * which is a link, cannot.
 */
async function endsWithUs(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const path = await findProgram('setpriv', env)
  if (path === undefined || basename(path) !== 'setpriv') return []
  return [path, '--pdeathsig', 'TERM', '--']
}

/** wl-paste has a few messages, and none of them quotes what was copied. */
function explain(line: string, lacking: string): string | undefined {
  if (/data-control|watch mode/i.test(line)) return lacking
  // wl-paste also misses the seat when the compositor goes away before it has announced one.
  return /wl_display|wayland server|seat/i.test(line) ? AWAY : undefined
}
