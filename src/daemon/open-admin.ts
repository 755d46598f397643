/** Finds the daemon of a data directory, or does its work while none runs. @module */

import { createAdminClient, type ControlAddress } from '../control/admin-client.ts'
import { createDeviceAdmin, type LinkBase } from '../control/device-admin.ts'
import { createIdlePeers } from '../peers/peer-connections.ts'
import type { Admin } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import { readLockHolder, type LockHolder } from '../storage/home/lock.ts'
import { chooseBaseUrl, readInterfaces } from './addresses.ts'
import { openConfigured } from './open-configured.ts'
import { isBusy, PATIENCE_MS, reachDaemon, retryWhileHeld, unreachable } from './reach-daemon.ts'
import { NOT_RUNNING, readStatus } from './read-status.ts'
import { defaultListen, type Settings } from './settings.ts'

/**
 * Opens the data directory, or the control listener of the daemon that holds it.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when its holder cannot be asked;
 *   `DATA_DIRECTORY_UNUSABLE`, `DATA_CORRUPT`.
 */
export async function openAdmin(settings: Settings, logger: Logger): Promise<Admin> {
  const { dataDir } = settings
  return waitFor(dataDir, async (holder) => {
    if (holder?.control !== undefined) {
      return createAdminClient(await reachDaemon(dataDir, holder, holder.control))
    }
    return openLocal(settings, logger).catch((error: unknown) => {
      if (!isBusy(error)) throw error
      return undefined
    })
  })
}

/**
 * The daemon that runs on a data directory; `undefined` when none does.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when it cannot be asked; `DATA_CORRUPT`.
 */
export async function openRunning(dataDir: string): Promise<RunningDaemon | undefined> {
  const address = await findRunning(dataDir)
  return address && createAdminClient(address)
}

/** Where that daemon can be asked. @throws As {@link openRunning}. */
export async function findRunning(dataDir: string): Promise<ControlAddress | undefined> {
  const found = await waitFor(dataDir, async (holder) => {
    if (holder === undefined) return 'none'
    if (holder.control === undefined) return undefined
    return reachDaemon(dataDir, holder, holder.control)
  })
  return found === 'none' ? undefined : found
}

/**
 * Makes the daemon of a data directory end, and waits until it has given that back.
 *
 * @param patienceMs How long its uploads may take.
 * @returns The process that has ended; `undefined` when none ran.
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when it cannot be asked, or goes on for longer.
 */
export async function stopRunning(
  dataDir: string,
  patienceMs: number,
): Promise<number | undefined> {
  const running = await openRunning(dataDir)
  const before = await readLockHolder(dataDir)
  if (running === undefined || before === undefined) return undefined
  await running.stop()
  const ended = await retryWhileHeld(patienceMs + PATIENCE_MS, async () => {
    // Whatever looks after services may have started another one.
    const holder = await readLockHolder(dataDir)
    return holder?.startedAt === before.startedAt ? undefined : before.pid
  })
  if (ended === undefined) throw unreachable(before, 'it was told to stop, and has not ended')
  return ended
}

/**
 * Calls `attempt` with whoever holds a data directory, until it finds something, or one holder has
 * not been done in time: dozens of commands may wait for each other.
 */
async function waitFor<Found>(
  dataDir: string,
  attempt: (holder: LockHolder | undefined) => Promise<Found | undefined>,
): Promise<Found> {
  let holder = await readLockHolder(dataDir)
  for (;;) {
    const before = holder
    const found = await retryWhileHeld(PATIENCE_MS, async () => {
      holder = await readLockHolder(dataDir)
      return attempt(holder)
    })
    if (found !== undefined) return found
    if (holder?.pid === before?.pid && holder?.startedAt === before?.startedAt) {
      throw unreachable(holder)
    }
  }
}

/** Opens the data directory. What is changed holds from the next start on. */
async function openLocal(settings: Settings, logger: Logger): Promise<Admin> {
  const station = await openConfigured(settings, logger, { isBrief: true })
  const peers = createIdlePeers(station.peerStore)
  return createDeviceAdmin({
    devices: station.devices,
    status: () => {
      const live = { ...NOT_RUNNING, peers: peers.list() }
      return readStatus(station, live, expectedBase(settings).url)
    },
    linkBase: () => expectedBase(settings),
    hasPhonePage: settings.phonePage === 'on',
    countStreams: () => 0,
    refusalsOf: () => undefined,
    peers,
    close: () => station.close(),
  })
}

/** Where the gateway will be found once it runs. */
function expectedBase({ listen, headless, publicUrl }: Settings): LinkBase {
  const bound = listen ?? defaultListen(headless ? 'headless' : 'desktop')
  const base = chooseBaseUrl(bound, readInterfaces(), publicUrl)
  const isUnknown = publicUrl === undefined && bound.some(({ port }) => port === 0)
  if (!isUnknown) return base
  const warning =
    'The port of the gateway is picked at its start: pair while it runs, or set --public-url'
  return { url: base.url, warning }
}
