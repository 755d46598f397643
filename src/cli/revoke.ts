/**
 * `clipgate revoke`.
 *
 * @module
 */

import type { SettingsInvocation } from './command.ts'
import { print, printJson } from './shell.ts'
import { withAdmin } from './with-admin.ts'

export async function runRevoke(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const [device = ''] = args.operands
  const { id } = await withAdmin(call, (admin) => admin.revoke(device))
  if (args.flag('json')) printJson(shell, { id })
  else print(shell, `${id} is gone; its password does not work any more.`)
  return 0
}
