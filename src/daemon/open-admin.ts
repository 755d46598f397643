/**
 * Finds whoever can do what the owner asks: the running daemon, or nobody but us.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { createAdminClient } from '../control/admin-client.ts'
import { DomainError } from '../core/domain-error.ts'
import type { Admin } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import { readLockHolder } from '../storage/lock.ts'
import { openLocalAdmin } from './local-admin.ts'
import {
  isReachable,
  PATIENCE_MS,
  reachDaemon,
  RETRY_MS,
  unreachable,
  type ReachableHolder,
} from './reach-daemon.ts'
import type { Settings } from './settings.ts'

export type { Admin, DaemonStatus, DeviceSummary, Pairing } from '../ports/admin.ts'
export type { BusStatus } from '../ports/bus.ts'
export type { PeerSummary } from '../ports/peers.ts'

/**
 * Opens the data directory, or the control listener of the daemon that holds it.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when its holder cannot be asked;
 *   `DATA_DIRECTORY_UNUSABLE`, `DATA_CORRUPT`.
 */
export async function openAdmin(settings: Settings, logger: Logger): Promise<Admin> {
  const { dataDir } = settings
  const patience = performance.now() + PATIENCE_MS
  for (;;) {
    const holder = await readLockHolder(dataDir)
    if (isReachable(holder)) return openRemote(dataDir, holder)
    const local = await tryLocal(settings, logger)
    if (local !== undefined) return local
    if (performance.now() > patience) throw unreachable(holder, 'it has no control listener')
    await delay(RETRY_MS)
  }
}

/** `undefined` when somebody else holds the data directory. */
async function tryLocal(settings: Settings, logger: Logger): Promise<Admin | undefined> {
  try {
    return await openLocalAdmin(settings, logger)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'DATA_DIRECTORY_BUSY') return undefined
    throw error
  }
}

async function openRemote(dataDir: string, holder: ReachableHolder): Promise<Admin> {
  const { address, explain } = await reachDaemon(dataDir, holder)
  const client = createAdminClient(address)
  return {
    status: () => explain(client.status()),
    devices: () => explain(client.devices()),
    pair: (request) => explain(client.pair(request)),
    rotate: (device, url) => explain(client.rotate(device, url)),
    revoke: (device) => explain(client.revoke(device)),
    join: (request) => explain(client.join(request)),
    leave: (name) => explain(client.leave(name)),
    peers: () => explain(client.peers()),
    close: () => client.close(),
  }
}
