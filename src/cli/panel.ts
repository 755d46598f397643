/** `clipgate panel`, `pause`, `resume` and `stop`: what only a running daemon can do. @module */

import { MAX_PAUSE_MS } from '../core/limits.ts'
import { openRunning, stopRunning } from '../daemon/open-admin.ts'
import { writeOpeningFile } from '../daemon/opening-file.ts'
import { duration } from '../daemon/setting-kinds.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import { openPath } from '../lib/open-path.ts'
import { CommandError, printResult, type SettingsInvocation } from './command.ts'
import { describePause } from './words/quantities.ts'
import { decodeAs } from './setting-options.ts'
import { complain, hasDesktop, isRemote, print, printJson } from './shell.ts'

const MIN_PAUSE_MS = 1000

const DURATION = duration(MIN_PAUSE_MS, MAX_PAUSE_MS)

/** Runs `clipgate panel`. */
export async function runPanel(call: SettingsInvocation): Promise<number> {
  const { shell, args, settings } = call
  if (args.flag('menu')) return (await import('./menu.ts')).openFromMenu(call)
  const running = await needRunning(call, 'open the panel')
  const url = await running.panelUrl()
  if (args.flag('json')) {
    printJson(shell, { url })
    return 0
  }
  if (!args.flag('print') && hasDesktop(shell.where)) {
    const path = await writeOpeningFile(settings.dataDir, url, shell.where)
    if (await openPath(path, shell.where)) {
      print(shell, 'The panel opens in your browser. If it does not: clipgate panel --print')
      return 0
    }
  }
  print(shell, url)
  const caution = 'Whoever has it can use the panel until the daemon stops.'
  complain(shell, `Open this URL in a browser. ${caution}`)
  if (isRemote(shell.where)) {
    const { host } = new URL(url)
    const forward = `ssh -L ${host}:${host} USER@THIS-MACHINE`
    complain(shell, `On another machine, forward the port first: ${forward}`)
  }
  return 0
}

/** Runs `clipgate pause`. */
export async function runPause(call: SettingsInvocation): Promise<number> {
  const [text] = call.args.operands
  const wrong = 'Cannot pause for that long: the duration'
  const durationMs = text === undefined ? undefined : decodeAs(DURATION, text, wrong)
  const running = await needRunning(call, 'pause')
  const { untilMs } = await running.pause(durationMs)
  const line = `Paused ${describePause({ untilMs })}; to end it: clipgate resume`
  printResult(call, { untilMs }, [line])
  return 0
}

/** Runs `clipgate resume`. */
export async function runResume(call: SettingsInvocation): Promise<number> {
  const running = await needRunning(call, 'resume')
  const { paused } = await running.status()
  await running.resume()
  const what = paused === undefined ? 'It was not paused: the clipboard is shared' : undefined
  printResult(call, {}, [`${what ?? 'The clipboard is shared again'}.`])
  return 0
}

/** Runs `clipgate stop`. */
export async function runStop(call: SettingsInvocation): Promise<number> {
  const { dataDir, grace } = call.settings
  const pid = await stopRunning(dataDir, grace)
  if (pid === undefined) throw new CommandError('Cannot stop: no daemon runs')
  printResult(call, { pid }, [`The daemon has stopped (process ${pid}).`])
  return 0
}

export const TO_START = 'start it: clipgate service install, or in a terminal: clipgate serve'

/** Finds the running daemon. @throws {CommandError} "Cannot `action`", when none runs. */
export async function needRunning(
  { settings }: SettingsInvocation,
  action: string,
): Promise<RunningDaemon> {
  const running = await openRunning(settings.dataDir)
  if (running !== undefined) return running
  throw new CommandError(`Cannot ${action}: no daemon runs; ${TO_START}`)
}
