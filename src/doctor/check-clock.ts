/**
 * Whether the clock of this machine can be right. Clients compare times of items.
 *
 * There is no other clock to ask: `--through` compares the one of a server with ours.
 *
 * @module
 */

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { fine, hint, problem, type Finding } from './finding.ts'
import type { Machine } from './machine.ts'
import type { Situation } from './situation.ts'

const CHECK = 'clock'

/** The first version is younger, and whoever runs this after the last year knows better. */
const YEARS: readonly [first: number, last: number] = [2025, 2100]

/** What clients that synchronise histories take for the same time. */
export const TOLERANCE_MS = 60_000

const SYNCHRONISE = 'sudo timedatectl set-ntp true, or the time settings of the desktop'

export async function checkClock({ machine, daemon }: Situation): Promise<Finding> {
  const now = new Date(machine.now())
  const time = now.toISOString().slice(0, 16).replace('T', ' ')
  const [first, last] = YEARS
  if (now.getUTCFullYear() < first || now.getUTCFullYear() > last) {
    return problem(CHECK, `it says ${time} UTC, which cannot be`, `set it: ${SYNCHRONISE}`)
  }
  // What this machine wrote down itself must not lie in its future.
  const times = [daemon?.status.item?.activatedAt, ...(daemon?.devices ?? []).map(lastTime)]
  const latest = Math.max(...times.map((text) => (text === undefined ? 0 : Date.parse(text))))
  if (latest > machine.now() + TOLERANCE_MS) {
    const detail = `it says ${time} UTC, which is before times that the daemon has noted`
    return problem(CHECK, detail, `make sure that it is right now: ${SYNCHRONISE}`)
  }
  const isSynchronised = await readTimesync(machine)
  if (isSynchronised === false) {
    return hint(
      CHECK,
      `${time} UTC; systemd-timesyncd has not synchronised it since the boot`,
      SYNCHRONISE,
    )
  }
  const source =
    isSynchronised === true ? ', synchronised' : '; whether it is right cannot be seen from here'
  return fine(CHECK, `${time} UTC${source}`)
}

function lastTime(device: {
  readonly createdAt: string
  readonly lastSeenAt: string | undefined
}): string {
  return device.lastSeenAt ?? device.createdAt
}

/** What systemd-timesyncd leaves in files; `undefined` where it does not run. */
async function readTimesync({ root }: Machine): Promise<boolean | undefined> {
  const folder = join(root, 'run/systemd/timesync')
  if (!(await exists(folder))) return undefined
  return exists(join(folder, 'synchronized'))
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch {
    // Not there, or not for us to see: it is not known to be synchronised.
    return false
  }
}
