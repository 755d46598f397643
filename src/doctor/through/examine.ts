/**
 * Checks an address from one end to the other: with a device that is borrowed from the daemon here,
 * or with one whose link was given.
 *
 * @module
 */

import type { LookupFunction } from 'node:net'
import type { Admin } from '../../ports/admin.ts'
import { problem, type Finding } from '../finding.ts'
import type { Machine } from '../machine.ts'
import { toLogin, withBorrowedDevice } from './borrow-device.ts'
import { checkThrough } from './check-through.ts'
import { PATIENCE, type Patience } from './target.ts'
import type { Login } from './visit.ts'

export interface Address {
  /** Base URL. */
  readonly url: string
  readonly credentials: { readonly user: string; readonly pwd: string } | undefined
}

export interface ExamineOptions {
  /** Of the daemon that runs here, if one does. */
  readonly admin: Pick<Admin, 'pair' | 'revoke' | 'devices'> | undefined
  readonly machine: Machine
  /** Ends everything; a borrowed device is given back all the same. */
  readonly signal: AbortSignal
  readonly patience?: Partial<Patience>
  /** For tests, as in `Target`. */
  readonly ca?: string
  readonly plainPort?: number
  readonly lookup?: LookupFunction
}

/** @throws The reason of the signal. */
export async function examine(
  { url, credentials }: Address,
  { admin, machine, signal, ca, plainPort, lookup, ...options }: ExamineOptions,
): Promise<readonly Finding[]> {
  const patience = { ...PATIENCE, ...options.patience }
  const check = async (login: Login | undefined): Promise<readonly Finding[]> => {
    // From here on: making a device waits for others to be verified.
    const limit = AbortSignal.timeout(patience.totalMs)
    const target = {
      base: new URL(url),
      patience,
      signal: AbortSignal.any([signal, limit]),
      ca,
      plainPort,
      lookup,
    }
    try {
      return await checkThrough({ target, machine, login })
    } catch (error) {
      if (signal.aborted || !limit.aborted) throw error
      const detail = `not all answers came within ${Math.round(patience.totalMs / 1000)} s`
      return [
        problem('patience', detail, 'find out what is slow: the network, the proxy, or the daemon'),
      ]
    }
  }
  if (credentials !== undefined) return check(toLogin(credentials.user, credentials.pwd))
  return admin === undefined ? check(undefined) : withBorrowedDevice(admin, check)
}
