/** Opens the data directory that the settings name. @module */

import type { Logger } from '../ports/logger.ts'
import { openStation, type OpenStationOptions, type Station } from '../station/open-station.ts'
import { readLockHolder } from '../storage/home/lock.ts'
import { isBusy, retryWhileHeld } from './reach-daemon.ts'
import type { Settings } from './settings.ts'

/** How long commands may hold the data directory: each hashes one password at most. */
const START_PATIENCE_MS = 5000

/** Opens the data directory of these settings, as {@link openStation}. */
export function openConfigured(
  settings: Settings,
  logger: Logger,
  more: Omit<OpenStationOptions, 'dataDir' | 'limits' | 'logger'> = {},
): Promise<Station> {
  const { dataDir, maxMetadataBytes, verifyWorkers, verifyQueue } = settings
  const limits = {
    maxFileBytes: settings.maxFileBytes,
    stagingTtlMs: settings.stagingTtl,
    stagingQuotaBytes: settings.stagingQuotaBytes,
    minFreeBytes: settings.minFreeBytes,
  }
  const own = { dataDir, maxMetadataBytes, verifyWorkers, verifyQueue, limits, logger }
  return openStation({ ...own, ...more })
}

/**
 * Opens the data directory, which commands hold for a moment. A daemon holds it for good, and says
 * where its control listener is: there is no use in waiting for that.
 */
export async function openWhenFree(
  settings: Settings,
  logger: Logger,
  more: Parameters<typeof openConfigured>[2],
): Promise<Station> {
  let busy: unknown
  const opened = await retryWhileHeld(START_PATIENCE_MS, async () => {
    try {
      return await openConfigured(settings, logger, more)
    } catch (error) {
      if (!isBusy(error)) throw error
      const holder = await readLockHolder(settings.dataDir)
      if (holder?.control !== undefined) throw error
      busy = error
      return undefined
    }
  })
  if (opened === undefined) throw busy
  return opened
}
