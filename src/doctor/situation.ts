/**
 * The situation that the checks look at: the settings, the machine, and the daemon if one runs.
 *
 * Settings are those that a start with the same options would have, and of a daemon that runs those
 * that it was started with, as far as it tells them. Tests bring a machine of their own.
 * @module
 */

import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import type { StatsFs } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type NetworkInterfaces, readInterfaces } from '../daemon/addresses.ts'
import type { Surroundings } from '../daemon/folders.ts'
import { openAdmin } from '../daemon/open-admin.ts'
import type { Admin, DaemonStatus, DeviceSummary } from '../ports/admin.ts'
import type { Settings } from '../daemon/settings.ts'
import { readMemoryRoom } from '../devices/login-memory.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { Logger } from '../ports/logger.ts'
import { readLockHolder, type LockHolder } from '../storage/home/lock.ts'
import { problem, type Verdict } from './finding.ts'

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
    const daemon = await findDaemon(settings, logger)
    const told = daemon?.status.settings ?? {}
    return { settings: { ...settings, ...told }, machine, daemon, trouble: undefined }
  } catch (error) {
    const reason = messageOf(error)
    const fix =
      'stop what holds the data directory, here or on that machine, then start: clipgate serve'
    return { settings, machine, daemon: undefined, trouble: problem(reason, fix) }
  }
}

async function findDaemon(settings: Settings, logger: Logger) {
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

/** The room of a file system as `statfs` tells it, in blocks and files; some count no files. */
export type DiskNumbers = Pick<StatsFs, 'bsize' | 'bavail' | 'files' | 'ffree'>

/** A machine to look at. */
export interface Machine extends Pick<Surroundings, 'platform' | 'environment'> {
  /** Where files of the system are: `/`. */
  readonly root: string
  interfaces(): NetworkInterfaces
  /** The own address from which packets leave for the internet; `undefined` where none would. */
  sourceAddress(): Promise<string | undefined>
  /** The addresses of a host name; none when nobody knows it, or takes long to tell. */
  resolve(name: string): Promise<readonly string[]>
  statfs(path: string): Promise<DiskNumbers>
  /** Unix milliseconds. */
  now(): number
  /** Bytes that this program could still take, limits of containers included. */
  availableMemory(): number
}

/** The machine that this program runs on. */
export function ownMachine({ platform, environment }: Surroundings): Machine {
  return {
    platform,
    environment,
    root: '/',
    interfaces: readInterfaces,
    sourceAddress: findSourceAddress,
    resolve: resolveName,
    statfs: (path) => statfs(path),
    now: Date.now,
    availableMemory: () => readMemoryRoom()?.left ?? process.availableMemory(),
  }
}

/** An address for documentation (RFC 5737), and a port that discards what it gets. */
const ELSEWHERE = { address: '192.0.2.1', port: 9 }

/** Asks the system for the route to somewhere else: connecting a socket for UDP sends nothing. */
function findSourceAddress(): Promise<string | undefined> {
  const socket = createSocket('udp4')
  const found = new Promise<string | undefined>((resolve) => {
    socket.once('error', () => resolve(undefined))
    const { port, address } = ELSEWHERE
    socket.connect(port, address, () => resolve(socket.address().address))
  })
  return found.finally(() => socket.close())
}

/** Milliseconds for a resolver, which cannot be told to stop. */
const RESOLVER_MS = 3000

async function resolveName(name: string): Promise<readonly string[]> {
  const found = lookup(name, { all: true }).then(
    (all) => all.map(({ address }) => address),
    () => [],
  )
  return Promise.race([found, delay(RESOLVER_MS, [], { ref: false })])
}

/** The text of a file of the system; `undefined` when it is missing, or hidden from this user. */
export async function readSystemFile({ root }: Machine, path: string): Promise<string | undefined> {
  try {
    return await readFile(join(root, path), 'latin1')
  } catch {
    // Another system, or hidden from us: either way it cannot be known.
    return undefined
  }
}
