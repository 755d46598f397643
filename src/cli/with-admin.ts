/** Runs a command on the daemon, or on its data directory while it does not run. @module */

import { openAdmin } from '../daemon/open-admin.ts'
import { createStreamLogger } from '../daemon/stream-logger.ts'
import type { Admin } from '../ports/admin.ts'
import type { SettingsInvocation } from './command.ts'

/** Calls `use`, and gives the daemon or the data directory back whatever happens. */
export async function withAdmin<Result>(
  { settings, shell }: SettingsInvocation,
  use: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const admin = await openAdmin(settings, createStreamLogger(shell.stderr, 'warn'))
  try {
    return await use(admin)
  } finally {
    await admin.close()
  }
}
