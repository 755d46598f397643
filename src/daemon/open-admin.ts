/**
 * Finds whoever can do what the owner asks: the running daemon, or nobody but us.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { ControlUnreachableError, createAdminClient } from '../control/admin-client.ts'
import { readControlToken } from '../control/control-token.ts'
import { DomainError } from '../core/domain-error.ts'
import type { Admin } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import { readLockHolder, type LockHolder } from '../storage/lock.ts'
import { openLocalAdmin } from './local-admin.ts'
import type { Settings } from './settings.ts'

export type { Admin, DaemonStatus, DeviceSummary, Pairing } from '../ports/admin.ts'

/** A daemon that starts has its listeners, and another command is done, long before. */
const PATIENCE_MS = 10_000

const RETRY_MS = 50

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
    if (holder?.control !== undefined)
      return openRemote(dataDir, { ...holder, control: holder.control })
    const local = await tryLocal(settings, logger)
    if (local !== undefined) return local
    if (performance.now() > patience) throw busy(holder, 'it has no control listener')
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

async function openRemote(
  dataDir: string,
  holder: LockHolder & { readonly control: string },
): Promise<Admin> {
  const token = await readControlToken(dataDir).catch((cause: unknown) => {
    throw busy(holder, 'control.token cannot be read', cause)
  })
  const client = createAdminClient({ url: holder.control, token })
  const explain = async <Value>(answer: Promise<Value>): Promise<Value> => {
    try {
      return await answer
    } catch (error) {
      if (error instanceof ControlUnreachableError)
        throw busy(holder, `${holder.control}: ${error.message}`, error)
      throw error
    }
  }
  return {
    status: () => explain(client.status()),
    devices: () => explain(client.devices()),
    pair: (request) => explain(client.pair(request)),
    rotate: (device, url) => explain(client.rotate(device, url)),
    revoke: (device) => explain(client.revoke(device)),
    close: () => client.close(),
  }
}

function busy(holder: LockHolder | undefined, reason: string, cause?: unknown): DomainError {
  const who = holder === undefined ? 'the daemon' : `the daemon (process ${holder.pid})`
  const message = `Cannot reach ${who}: ${reason}; stop it, or try again`
  return new DomainError('DATA_DIRECTORY_BUSY', message, { cause })
}
