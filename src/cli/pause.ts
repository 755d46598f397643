/**
 * `clipgate pause`.
 *
 * @module
 */

import { MAX_PAUSE_MS } from '../core/limits.ts'
import { duration } from '../daemon/setting-kinds.ts'
import { UsageError, type SettingsInvocation } from './command.ts'
import { needRunning } from './need-running.ts'
import { describePause } from './quantities.ts'
import { print, printJson } from './shell.ts'

const MIN_PAUSE_MS = 1000

const DURATION = duration(MIN_PAUSE_MS, MAX_PAUSE_MS)

export async function runPause(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const [text] = args.operands
  const durationMs = text === undefined ? undefined : parseDuration(text)
  const running = await needRunning(call, 'pause')
  const { untilMs } = await running.pause(durationMs)
  if (args.flag('json')) printJson(shell, { untilMs })
  else print(shell, `Paused ${describePause({ untilMs })}; to end it: clipgate resume`)
  return 0
}

function parseDuration(text: string): number {
  try {
    return DURATION.decode(text, '')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError([`Cannot pause for that long: the duration ${error.message}`])
  }
}
