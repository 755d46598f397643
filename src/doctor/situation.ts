/**
 * The situation that the checks look at: the settings, the machine, and the daemon if one runs.
 *
 * Settings are those that a start with the same options would have. A daemon that runs may have
 * been started with others; where it can be asked, it is.
 * @module
 */

import { openAdmin } from '../daemon/open-admin.ts'
import type { Admin, DaemonStatus, DeviceSummary } from '../ports/admin.ts'
import type { Settings } from '../daemon/settings.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { Logger } from '../ports/logger.ts'
import { readLockHolder, type LockHolder } from '../storage/lock.ts'
import { problem, type Verdict } from './finding.ts'
import type { Machine } from './machine.ts'

/** A daemon that answers. */
export interface AnsweringDaemon {
  readonly admin: Admin
  readonly holder: LockHolder
  readonly status: DaemonStatus
  readonly devices: readonly DeviceSummary[]
}

/** Everything that the checks of this machine are given. */
export interface Situation {
  readonly settings: Settings
  readonly machine: Machine
  /** `undefined` also when there is one that cannot be asked; {@link trouble} says so then. */
  readonly daemon: AnsweringDaemon | undefined
  /** Why it cannot be told whether a daemon runs, or what it does. */
  readonly trouble: Verdict | undefined
}

/** Looks for the daemon; makes nothing, and takes no lock. */
export async function readSituation(
  settings: Settings,
  machine: Machine,
  logger: Logger,
): Promise<Situation> {
  try {
    return { settings, machine, daemon: await findDaemon(settings, logger), trouble: undefined }
  } catch (error) {
    const reason = messageOf(error)
    const fix =
      'stop what holds the data directory, here or on that machine, then start: clipgate serve'
    return { settings, machine, daemon: undefined, trouble: problem(reason, fix) }
  }
}

type Found = AnsweringDaemon | undefined

async function findDaemon(settings: Settings, logger: Logger): Promise<Found> {
  const holder = await readLockHolder(settings.dataDir)
  if (holder === undefined) return undefined
  if (holder.control === undefined) {
    throw new Error(`Process ${holder.pid} holds the data directory, and is not ready yet`)
  }
  const admin = await openAdmin(settings, logger)
  try {
    const [status, devices] = await Promise.all([admin.status(), admin.devices()])
    return { admin, holder, status, devices }
  } catch (error) {
    await admin.close()
    throw error
  }
}
