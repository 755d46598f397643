/** Finds the running daemon, for what nobody else can do. @module */

import { createDaemonClient } from '../control/admin-client.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import { readLockHolder } from '../storage/lock.ts'
import { PATIENCE_MS, reachDaemon, retryWhileHeld, unreachable } from './reach-daemon.ts'

/**
 * The daemon that runs on a data directory; `undefined` when none does.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when it cannot be asked; `DATA_CORRUPT`.
 */
export async function openRunning(dataDir: string): Promise<RunningDaemon | undefined> {
  const found = await retryWhileHeld(PATIENCE_MS, async () => {
    const holder = await readLockHolder(dataDir)
    if (holder === undefined) return 'none'
    if (holder.control === undefined) return undefined
    return createDaemonClient(await reachDaemon(dataDir, holder, holder.control))
  })
  if (found === undefined) throw unreachable(await readLockHolder(dataDir))
  return found === 'none' ? undefined : found
}
