/**
 * Whether the clock can be right, and whether the process may have what it needs: open files, and
 * memory.
 * @module
 */

import { MIB } from '../core/limits.ts'
import { LOGIN_BYTES } from '../devices/login-memory.ts'
import { affordableConnections } from '../http/connection-table.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { fine, hint, problem, type Verdict } from './finding.ts'
import { readSystemFile, type Situation } from './situation.ts'

/** The first version is younger, and whoever runs this after the last year knows better. */
const YEARS: readonly [first: number, last: number] = [2025, 2100]

/** Times that differ by less, in milliseconds, are the same for clients that compare histories. */
export const TOLERANCE_MS = 60_000

/** With fewer connections, a few phones with a browser each are turned away. */
const FEW_CONNECTIONS = 64

/** With that much more, in bytes, requests and files are at ease beside a login. */
const SPARE_BYTES: number = 32 * MIB

/**
 * Looks whether the clock of this machine can be right. There is no other clock to ask: a check
 * through an address compares the one of a server with it.
 */
export function checkClock({ machine, daemon }: Situation): Verdict {
  const now = machine.now()
  const date = new Date(now)
  const time = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const fix = 'set it: sudo timedatectl set-ntp true, or the time settings of the desktop'
  const [first, last] = YEARS
  if (date.getUTCFullYear() < first || date.getUTCFullYear() > last) {
    return problem(`it says ${time}, which cannot be`, fix)
  }
  // Times that this machine wrote down itself must not lie in its future.
  const seen = (daemon?.devices ?? []).map(({ lastSeenAt, createdAt }) => lastSeenAt ?? createdAt)
  const activated = daemon?.status.item?.activatedAt
  const noted = activated === undefined ? seen : [...seen, activated]
  if (noted.some((text) => Date.parse(text) > now + TOLERANCE_MS)) {
    return problem(`it says ${time}, which is before times that the daemon has noted`, fix)
  }
  return fine(`${time}; whether it is right cannot be seen from here`)
}

/** Looks at the limit of open files. */
export async function checkDescriptors({ settings, machine, daemon }: Situation): Promise<Verdict> {
  const limits = await readSystemFile(machine, `proc/${daemon?.holder.pid ?? 'self'}/limits`)
  const affordable = affordableConnections(limits ?? '')
  const { maxConnections } = settings
  if (affordable === Infinity) return fine('the limit of open files cannot be seen from here')
  const detail = `the limit of open files leaves room for ${affordable} connections`
  if (affordable >= maxConnections) return fine(detail)
  const fix = `raise it to ${4 * maxConnections}: LimitNOFILE= of a systemd unit, or ulimit -n`
  return affordable < FEW_CONNECTIONS
    ? problem(detail, fix)
    : hint(`${detail}, and not ${maxConnections} (--max-connections)`, fix)
}

/** Looks whether there is memory for verifying passwords. */
export function checkMemory({ settings, machine }: Situation): Verdict {
  const available = machine.availableMemory()
  const needed = settings.verifyWorkers * LOGIN_BYTES
  const detail = `${formatBytes(available)} available; passwords take up to ${formatBytes(needed)}`
  if (available >= needed + SPARE_BYTES) return fine(detail)
  const fix = 'end other programs, raise the limit of the container, or lower --verify-workers'
  return available < needed ? problem(detail, fix) : hint(detail, fix)
}
