/** `clipgate panel --menu`: what menus run, where nobody reads what is printed. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openRunning } from '../daemon/open-admin.ts'
import { writeOpeningFile } from '../daemon/opening-file.ts'
import { PATIENCE_MS, retryWhileHeld } from '../daemon/reach-daemon.ts'
import { systemClock, within } from '../lib/clock.ts'
import { startOpener } from '../lib/open-path.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import { CommandError, type SettingsInvocation } from './command.ts'
import { startOwnService } from './service/service.ts'

/** Openers end when the browser has the file. Some are the browser itself, and go on. */
const OPENER_MS = 10_000

/** More than a program says of why it does not start. */
const MAX_SAID = 4096

/** Opens the panel; starts clipgate before where it does not run. @throws {CommandError} */
export async function openFromMenu(call: SettingsInvocation): Promise<number> {
  const { where } = call.shell
  const { dataDir } = call.settings
  const running = (await openRunning(dataDir)) ?? (await start(call))
  const path = await writeOpeningFile(dataDir, await running.panelUrl(), where)
  const opener = await startOpener(path, where)
  const reason = opener === undefined ? 'there is none' : await reasonOf(once(opener, 'exit'))
  if (reason === undefined) return 0
  throw new CommandError(
    `Cannot open the panel: the program that opens a browser says: ${reason}; ` +
      'clipgate runs, and in a terminal this prints an address: clipgate panel --print',
  )
}

/** Why an opener failed; `undefined` when it did not, and while it goes on. */
async function reasonOf(exit: Promise<unknown[]>): Promise<string | undefined> {
  const [code] = await within(systemClock, OPENER_MS, exit, [0])
  return code === 0 ? undefined : `exit code ${code}`
}

/** Starts the service where there is one, else a daemon that ends with the session. */
async function start(call: SettingsInvocation): Promise<RunningDaemon> {
  const { dataDir } = call.settings
  await startOwnService(call)
  return (await openRunning(dataDir)) ?? startInBackground(call)
}

async function startInBackground({ shell, settings }: SettingsInvocation): Promise<RunningDaemon> {
  const { dataDir } = settings
  const program = [...process.execArgv, process.argv[1] ?? '']
  const daemon = spawn(process.execPath, [...program, 'serve', '--data-dir', dataDir], {
    detached: true,
    env: shell.where.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
  let [said, hasEnded] = ['', false]
  daemon.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_SAID)
  })
  daemon.once('close', () => (hasEnded = true))
  const running = await retryWhileHeld(PATIENCE_MS, async () => {
    // Looked at before: another call may have started one that is ready in between.
    const isOver = hasEnded
    return (await openRunning(dataDir)) ?? (isOver ? 'none' : undefined)
  })
  // Its log is read by nobody from here on; that of a service is.
  daemon.stderr.destroy()
  daemon.unref()
  if (running === 'none') throw new CommandError(said.trim().split('\n').at(-1) ?? '')
  if (running !== undefined) return running
  throw new CommandError('Cannot open the panel: clipgate was started, and does not answer yet')
}
