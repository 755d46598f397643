/** `clipgate service` on macOS: a launch agent of the user. @module */

import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Surroundings } from '../../daemon/folders.ts'
import { retryWhileHeld } from '../../daemon/reach-daemon.ts'
import {
  escapeXml,
  fillRecipe,
  findProgram,
  runProgram,
  succeeds,
  type ServiceManager,
} from './manager.ts'

/** The time that the recipe gives it to end, and some more. */
const PATIENCE_MS = 25_000

/** The manager of the user who runs this. */
export function createLaunchdService({
  home,
  environment,
  platform,
}: Surroundings): ServiceManager {
  const file = join(home, 'Library', 'LaunchAgents', 'clipgate.plist')
  const domain = `gui/${process.getuid?.()}`
  const service = `${domain}/clipgate`
  const launchctl = (...args: readonly string[]) => runProgram(environment, 'launchctl', args)
  const print = () => launchctl('print', service)

  const remove = async (): Promise<void> => {
    if (await succeeds(print())) {
      await launchctl('bootout', service)
      // That may return before it has ended, and another one cannot be started until then.
      await retryWhileHeld(PATIENCE_MS, async () => ((await succeeds(print())) ? undefined : true))
    }
    await rm(file, { force: true })
  }

  return {
    look: `launchctl print ${service}; its log is ~/Library/Logs/clipgate.log`,
    state: async () => ({
      isInstalled: existsSync(file),
      isRunning: await print().then(
        (text) => /^\s*state = running$/m.test(text),
        () => false,
      ),
      file: existsSync(file) ? file : undefined,
      advice: [],
    }),
    install: async () => {
      const { node, main } = findProgram({ home, environment, platform })
      const agent = await fillRecipe('launchd/clipgate.plist', {
        '<string>/usr/bin/env</string>': `<string>${escapeXml(node)}</string>`,
        '<string>clipgate</string>\n\t\t<string>serve': `<string>${escapeXml(main)}</string>\n\t\t<string>serve`,
        '/Users/YOU': escapeXml(home),
      })
      await remove()
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, agent)
      // Undoes a "launchctl disable", which is kept although the file is gone.
      await launchctl('enable', service)
      await launchctl('bootstrap', domain, file)
      return []
    },
    start: async () => {
      await launchctl('kickstart', service)
    },
    remove,
  }
}
