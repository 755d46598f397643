/**
 * Whether a daemon runs, and who is paired with it.
 *
 * @module
 */

import { join } from 'node:path'
import { readVersion } from '../daemon/version.ts'
import { readDeviceFile } from '../devices/read-device-file.ts'
import type { Logger } from '../ports/logger.ts'
import { fine, hint, problem, type Finding } from './finding.ts'
import type { Situation } from './situation.ts'

const PAIR = 'clipgate pair'

export function checkDaemon({ daemon, trouble }: Situation): Finding {
  if (trouble !== undefined) return trouble
  const own = readVersion()
  if (daemon === undefined) {
    const detail = `clipgate ${own} does not run; what follows is what a start would meet`
    return hint('daemon', detail, 'clipgate serve')
  }
  const { version, pid, mode = 'unknown mode' } = daemon.status
  const detail = `clipgate ${version} runs, ${mode}, process ${pid ?? 'unknown'}`
  if (version === own) return fine('daemon', detail)
  return hint('daemon', `${detail}; this program is ${own}`, 'stop the daemon, and start it again')
}

/** Devices that were never seen may be waiting for just what the other checks find. */
export async function checkDevices(
  { daemon, settings }: Situation,
  logger: Logger,
): Promise<Finding> {
  const devices =
    daemon?.devices ?? (await readDeviceFile(join(settings.dataDir, 'devices.json'), logger))
  if (devices.length === 0) {
    return daemon === undefined
      ? hint('devices', 'none is paired yet', `${PAIR}; the first start on a terminal does it too`)
      : problem('devices', 'none is paired', PAIR)
  }
  const unseen = devices.filter(({ lastSeenAt }) => lastSeenAt === undefined).length
  const count = `${devices.length} paired`
  if (unseen === 0) return fine('devices', count)
  return hint(
    'devices',
    `${count}, ${unseen} never seen`,
    'scan its code on the phone, or remove it: clipgate devices, clipgate revoke ID',
  )
}
