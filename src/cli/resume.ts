/**
 * `clipgate resume`.
 *
 * @module
 */

import type { SettingsInvocation } from './command.ts'
import { needRunning } from './need-running.ts'
import { print, printJson } from './shell.ts'

export async function runResume(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const running = await needRunning(call, 'resume')
  await running.resume()
  if (args.flag('json')) printJson(shell, {})
  else print(shell, 'The clipboard is shared again.')
  return 0
}
