/**
 * Whether a daemon runs, and who is paired with it.
 * @module
 */

import { join } from 'node:path'
import { readVersion } from '../daemon/version.ts'
import { readDeviceFile } from '../devices/device-file.ts'
import type { Logger } from '../ports/logger.ts'
import { fine, hint, problem, type Verdict } from './finding.ts'
import type { Situation } from './situation.ts'

const PAIR = 'clipgate pair'

/** Says whether a daemon runs, and which. */
export function checkDaemon({ daemon, trouble }: Situation): Verdict {
  if (trouble !== undefined) return trouble
  const own = readVersion()
  if (daemon === undefined) {
    const detail = `clipgate ${own} does not run; what follows is what a start would meet`
    return hint(detail, 'clipgate serve')
  }
  const { version, pid, mode = 'unknown mode' } = daemon.status
  const detail = `clipgate ${version} runs, ${mode}, process ${pid ?? 'unknown'}`
  if (version === own) return fine(detail)
  return hint(`${detail}; this program is ${own}`, 'stop the daemon, and start it again')
}

/** Devices that were never seen may be waiting for just what the other checks find. */
export async function checkDevices(situation: Situation, logger: Logger): Promise<Verdict> {
  const { daemon, settings } = situation
  const path = join(settings.dataDir, 'devices.json')
  const devices = daemon?.devices ?? (await readDeviceFile(path, logger))
  if (devices.length === 0) {
    return daemon === undefined
      ? hint('none is paired yet', `${PAIR}; the first start on a terminal does it too`)
      : problem('none is paired', PAIR)
  }
  const unseen = devices.filter(({ lastSeenAt }) => lastSeenAt === undefined).length
  const count = `${devices.length} paired`
  if (unseen === 0) return fine(count)
  const fix = 'scan its code on the phone, or remove it: clipgate devices, clipgate revoke ID'
  return hint(`${count}, ${unseen} never seen`, fix)
}
