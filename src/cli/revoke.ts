/**
 * `clipgate revoke`.
 *
 * @module
 */

import type { SettingsInvocation } from './command.ts'
import { complain, print, printJson, type Shell } from './shell.ts'
import { withAdmin } from './with-admin.ts'

export async function runRevoke(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const [device = ''] = args.operands
  const { id, unsaved } = await withAdmin(call, (admin) => admin.revoke(device))
  if (args.flag('json')) printJson(shell, unsaved === undefined ? { id } : { id, unsaved })
  else print(shell, `${id} is gone; its password does not work any more.`)
  return tellUnsaved(shell, unsaved)
}

/**
 * Tells that a revocation counts and may not last.
 *
 * @returns The exit code: what a restart may undo is not done.
 */
export function tellUnsaved(shell: Shell, unsaved: string | undefined): number {
  if (unsaved === undefined) return 0
  complain(shell, `${unsaved}. The device is shut out all the same, until the daemon is restarted;`)
  complain(shell, 'the daemon saves that when it can, and "clipgate status" tells whether it has')
  return 1
}
