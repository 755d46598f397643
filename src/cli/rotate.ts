/**
 * `clipgate rotate`.
 *
 * @module
 */

import type { SettingsInvocation } from './command.ts'
import { printPairing, showPairing } from './show-pairing.ts'
import { withAdmin } from './with-admin.ts'

export async function runRotate(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const [device = ''] = args.operands
  const pairing = await withAdmin(call, (admin) => admin.rotate(device))
  if (args.flag('json')) printPairing(shell, pairing)
  else await showPairing(shell, pairing)
  return 0
}
