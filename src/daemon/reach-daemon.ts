/** Waits for a data directory that somebody holds, and reaches the daemon that holds it. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ControlAddress } from '../control/admin-client.ts'
import { readControlToken } from '../control/control-token.ts'
import { DomainError } from '../core/domain-error.ts'
import type { LockHolder } from '../storage/home/lock.ts'

/** A daemon that starts has its listeners, and another command is done, long before. */
export const PATIENCE_MS = 10_000

const RETRY_MS = 50

/**
 * Calls `attempt` until it finds something. It finds nothing as long as the data directory is held
 * by somebody who cannot be asked: a daemon that starts, or a command that is done in a moment.
 *
 * @returns `undefined` when the time has passed.
 */
export async function retryWhileHeld<Found>(
  patienceMs: number,
  attempt: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  // `performance` is a module of Node that nothing else at a start needs.
  const end = process.uptime() * 1000 + patienceMs
  for (;;) {
    const found = await attempt()
    if (found !== undefined || process.uptime() * 1000 > end) return found
    await delay(RETRY_MS)
  }
}

/** Whether an error says that somebody else holds the data directory. */
export function isBusy(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'DATA_DIRECTORY_BUSY'
}

/**
 * Reads where a daemon can be asked.
 *
 * @param url Base URL of its control listener.
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when its token cannot be read.
 */
export async function reachDaemon(
  dataDir: string,
  holder: LockHolder,
  url: string,
): Promise<ControlAddress> {
  const token = await readControlToken(dataDir).catch((cause: unknown) => {
    throw unreachable(holder, 'control.token cannot be read', cause)
  })
  return { url, token, explain: (error) => unreachable(holder, `${url}: ${error.message}`, error) }
}

/** Makes a `DATA_DIRECTORY_BUSY` that says who holds the directory, why, and what to do. */
export function unreachable(
  holder: LockHolder | undefined,
  reason = 'it has no control listener',
  cause?: unknown,
): DomainError {
  const who = holder === undefined ? 'the daemon' : `the daemon (process ${holder.pid})`
  const message = `Cannot reach ${who}: ${reason}; stop it, or try again`
  return new DomainError('DATA_DIRECTORY_BUSY', message, { cause })
}
