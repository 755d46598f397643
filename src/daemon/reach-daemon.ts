/**
 * Reaches the daemon that holds a data directory.
 *
 * @module
 */

import { ControlUnreachableError, type ControlAddress } from '../control/call-control.ts'
import { readControlToken } from '../control/control-token.ts'
import { DomainError } from '../core/domain-error.ts'
import type { LockHolder } from '../storage/lock.ts'

/** A daemon that starts has its listeners, and another command is done, long before. */
export const PATIENCE_MS = 10_000

export const RETRY_MS = 50

/** A holder that says where it can be asked. */
export type ReachableHolder = LockHolder & { readonly control: string }

export interface ReachedDaemon {
  readonly address: ControlAddress
  /** Waits for an answer; says who did not give one. */
  explain<Value>(answer: Promise<Value>): Promise<Value>
}

/** @throws {DomainError} `DATA_DIRECTORY_BUSY` when it cannot be asked. */
export async function reachDaemon(
  dataDir: string,
  holder: ReachableHolder,
): Promise<ReachedDaemon> {
  const token = await readControlToken(dataDir).catch((cause: unknown) => {
    throw unreachable(holder, 'control.token cannot be read', cause)
  })
  const explain = async <Value>(answer: Promise<Value>): Promise<Value> => {
    try {
      return await answer
    } catch (error) {
      if (error instanceof ControlUnreachableError)
        throw unreachable(holder, `${holder.control}: ${error.message}`, error)
      throw error
    }
  }
  return { address: { url: holder.control, token }, explain }
}

/** Whether a holder can be asked. */
export function isReachable(holder: LockHolder | undefined): holder is ReachableHolder {
  return holder?.control !== undefined
}

/** `DATA_DIRECTORY_BUSY`, with who, why, and what to do. */
export function unreachable(
  holder: LockHolder | undefined,
  reason: string,
  cause?: unknown,
): DomainError {
  const who = holder === undefined ? 'the daemon' : `the daemon (process ${holder.pid})`
  const message = `Cannot reach ${who}: ${reason}; stop it, or try again`
  return new DomainError('DATA_DIRECTORY_BUSY', message, { cause })
}
