/** Reads what `clipgate status` tells: never content, nor names of it. @module */

import type { DaemonSettings, DaemonStatus, TransferStatus } from '../ports/admin.ts'
import { findLostUrls, readInterfaces } from './addresses.ts'
import type { Station } from '../station/open-station.ts'
import { readVersion } from './version.ts'

/** The part of the status that only a running daemon knows. */
type LiveStatus = Omit<
  DaemonStatus,
  'version' | 'item' | 'devices' | 'devicesError' | 'lostUrls' | 'storage'
>

/** The status while no daemon runs, without the joined daemons. */
export const NOT_RUNNING: Omit<LiveStatus, 'peers'> = {
  running: false,
  pid: undefined,
  startedAt: undefined,
  mode: undefined,
  clipboard: 'none',
  clipboardError: undefined,
  receivedError: undefined,
  paused: undefined,
  settings: undefined,
  listeners: [],
  tls: undefined,
  transfers: [],
  bus: undefined,
}

/** The settings that the status tells. */
export function toldSettings(settings: DaemonSettings): DaemonSettings {
  const { publicUrl, allowPublic, receivedDir, maxConnections, verifyWorkers } = settings
  const { minFreeBytes, maxFileBytes, stagingQuotaBytes } = settings
  return {
    ...{ publicUrl, allowPublic, receivedDir, maxConnections, verifyWorkers },
    ...{ minFreeBytes, maxFileBytes, stagingQuotaBytes },
  }
}

/**
 * Reads the status from the data directory, and adds what only a running daemon knows.
 *
 * @param currentUrl The base URL of new links, which is right wherever it leads.
 */
export async function readStatus(
  { latest, storage, devices, directory }: Station,
  live: LiveStatus,
  currentUrl: string,
): Promise<DaemonStatus> {
  const item = latest.current?.item
  const linkUrls = devices.list().flatMap(({ linkUrl }) => linkUrl ?? [])
  const others = linkUrls.filter((url) => url !== currentUrl)
  const { uploads, bytes } = storage.staging.stats()
  return {
    ...live,
    version: readVersion(),
    item: item && {
      type: item.type,
      size: item.size,
      contentId: item.contentId,
      activatedAt: new Date(item.activatedAt).toISOString(),
    },
    devices: devices.list().length,
    devicesError: devices.unsaved,
    lostUrls: findLostUrls(others, readInterfaces()),
    storage: {
      dataDir: directory.path,
      stagedUploads: uploads,
      stagedBytes: bytes,
      freeBytes: await storage.freeBytes(),
      error: await storage.diskTrouble(),
    },
  }
}

/** The transfers as the owner hears of them: without names. */
export function describeTransfers({
  transfers,
  devices,
}: Pick<Station, 'transfers' | 'devices'>): readonly TransferStatus[] {
  return transfers.list.map(({ direction, deviceId, total, bytes }) => {
    return { direction, device: devices.find(deviceId)?.label, bytes: bytes(), total }
  })
}
