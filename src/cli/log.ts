/** `clipgate log`: what happened since the daemon was started; never content. @module */

import { printResult, type SettingsInvocation } from './command.ts'
import { needRunning } from './panel.ts'
import { printJson } from './shell.ts'
import { visible } from './visible.ts'
import { sentenceOf } from './words/happenings.ts'
import { formatTime } from './words/quantities.ts'

/** Runs `clipgate log`. */
export async function runLog(call: SettingsInvocation): Promise<number> {
  const running = await needRunning(call, 'tell what happened')
  const happenings = (await running.happenings()).toReversed()
  if (call.args.flag('json')) {
    for (const happened of happenings) printJson(call.shell, happened)
    return 0
  }
  const lines = happenings.map((happened) => {
    return `${formatTime(new Date(happened.at))}  ${visible(sentenceOf(happened))}`
  })
  printResult(call, happenings, lines.length === 0 ? ['Nothing has happened yet.'] : lines)
  return 0
}
