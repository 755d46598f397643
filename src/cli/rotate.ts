/**
 * `clipgate rotate`.
 *
 * @module
 */

import { CommandError, type SettingsInvocation } from './command.ts'
import { showOnce } from './show-pairing.ts'
import { withAdmin } from './with-admin.ts'

export async function runRotate(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const [device = ''] = args.operands
  const pairing = await withAdmin(call, (admin) => admin.rotate(device))
  const failure = await showOnce(shell, pairing, { isJson: args.flag('json') })
  if (failure === undefined) return 0
  // The old password is gone for good: it was kept nowhere.
  const remedy = 'the old one fails already: rotate again'
  throw new CommandError(`Cannot show the new password: ${failure}; ${remedy}`)
}
