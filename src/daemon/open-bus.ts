/**
 * Opens the bus of a daemon, and loads nothing of it where none is wanted.
 *
 * @module
 */

import { join } from 'node:path'
import { systemTiming } from '../client/timing.ts'
import type { GroupBus } from '../peers/bus/open-group-bus.ts'
import { DiskPrivateFile } from '../storage/disk-private-file.ts'
import type { Clipboard } from './open-clipboard.ts'
import type { Settings } from './settings.ts'

/**
 * @param url Where others reach the gateway, as it is now.
 * @throws {DomainError} as `openGroupBus`.
 */
export async function openBus(
  settings: Settings,
  clipboard: Clipboard,
  url: () => string,
): Promise<GroupBus | undefined> {
  const { bus: servers, busCredentials, busCa, maxFileBytes } = settings
  if (servers === undefined) return undefined
  const { openGroupBus, GROUP_KEY_FILE, GROUP_RECORD_FILE } = await import(
    '../peers/bus/open-group-bus.ts'
  )
  const fileOf = (name: string): DiskPrivateFile =>
    new DiskPrivateFile(join(clipboard.directory.path, name))
  return openGroupBus({
    ...clipboard,
    servers,
    credentialsFile: busCredentials,
    caFile: busCa,
    keyFile: fileOf(GROUP_KEY_FILE),
    recordFile: fileOf(GROUP_RECORD_FILE),
    now: clipboard.clock.now(),
    timing: systemTiming,
    maxFileBytes,
    url,
  })
}
