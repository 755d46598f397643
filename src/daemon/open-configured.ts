/** Opens the data directory that the settings name. @module */

import type { Logger } from '../ports/logger.ts'
import { openStation, type OpenStationOptions, type Station } from '../station/open-station.ts'
import type { Settings } from './settings.ts'

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
