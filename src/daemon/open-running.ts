/**
 * Finds the running daemon, for what nobody else can do.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { createPanelClient, type PanelClient } from '../control/admin-client.ts'
import { readLockHolder } from '../storage/lock.ts'
import { isReachable, PATIENCE_MS, reachDaemon, RETRY_MS, unreachable } from './reach-daemon.ts'

export type { PanelClient } from '../control/admin-client.ts'

/**
 * The daemon that runs on a data directory; `undefined` when none does.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when it cannot be asked; `DATA_CORRUPT`.
 */
export async function openRunning(dataDir: string): Promise<PanelClient | undefined> {
  const patience = performance.now() + PATIENCE_MS
  for (;;) {
    const holder = await readLockHolder(dataDir)
    if (holder === undefined) return undefined
    if (isReachable(holder)) {
      const { address, explain } = await reachDaemon(dataDir, holder)
      const client = createPanelClient(address)
      return {
        panelUrl: () => explain(client.panelUrl()),
        pause: (durationMs) => explain(client.pause(durationMs)),
        resume: () => explain(client.resume()),
      }
    }
    // It starts, or is a command that will be done in a moment.
    if (performance.now() > patience) throw unreachable(holder, 'it has no control listener')
    await delay(RETRY_MS)
  }
}
