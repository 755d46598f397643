/** Joins the bus that the settings name, if they name one. @module */

import { join } from 'node:path'
import type { CircleMember } from '../peers/bus/circle-member.ts'
import type { Station } from '../station/open-station.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'
import type { Settings } from './settings.ts'

/**
 * Opens the bus, and loads nothing of it where none is wanted.
 *
 * @param url Where others reach the gateway, as it is now.
 * @throws {DomainError} as `openCircleBus`.
 */
export async function openBus(
  { bus: servers, busCredentials, busCa, maxFileBytes }: Settings,
  station: Station,
  url: () => string,
): Promise<CircleMember | undefined> {
  if (servers === undefined) return undefined
  const { openCircleBus, CIRCLE_KEY_FILE, MEMBERSHIP_FILE } = await import(
    '../peers/bus/open-circle-bus.ts'
  )
  const fileOf = (name: string): DiskPrivateFile =>
    new DiskPrivateFile(join(station.directory.path, name))
  return openCircleBus({
    ...station,
    servers,
    credentialsFile: busCredentials,
    caFile: busCa,
    keyFile: fileOf(CIRCLE_KEY_FILE),
    membershipFile: fileOf(MEMBERSHIP_FILE),
    now: station.clock.now(),
    maxFileBytes,
    url,
  })
}
