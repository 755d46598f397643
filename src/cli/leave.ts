/**
 * `clipgate leave`.
 *
 * @module
 */

import type { SettingsInvocation } from './command.ts'
import { print, printJson } from './shell.ts'
import { visible } from './visible.ts'
import { withAdmin } from './with-admin.ts'

export async function runLeave(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const [wanted = ''] = args.operands
  const { name } = await withAdmin(call, (admin) => admin.leave(wanted))
  if (args.flag('json')) printJson(shell, { name })
  else print(shell, `Left ${visible(name)}. There, "clipgate revoke" takes away what let us in.`)
  return 0
}
