/**
 * A device for the time of a check: made by the daemon that runs here, and removed again; see
 * docs/decisions/020-a-device-for-the-doctor.md.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { Admin, DeviceSummary } from '../../ports/admin.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { Login } from './visit.ts'

const LABEL = 'doctor'

/** Says whose it is, so that what a crash leaves behind can be told from what is in use. */
const USERNAME = /^doctor_(\d{1,10})_[0-9a-f]{8}$/

/** Longer than any run. */
const ABANDONED_MS = 10 * 60_000

/** Passwords that daemons mint have as many bits. */
const PASSWORD_BYTES = 16

/** Calls `use` with a device that is gone when this has settled, whatever happens. */
export async function withBorrowedDevice<Result>(
  admin: Pick<Admin, 'pair' | 'revoke' | 'devices'>,
  use: (login: Login) => Promise<Result>,
): Promise<Result> {
  await removeLeftOvers(admin)
  const username = `doctor_${process.pid}_${randomBytes(4).toString('hex')}`
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  // Of the link nothing is used; this base URL is one that always fits.
  const url = 'http://127.0.0.1'
  const { id } = await admin.pair({ kind: 'phone', label: LABEL, username, password, url })
  try {
    return await use(toLogin(username, password, { id, admin }))
  } finally {
    await admin.revoke(id)
  }
}

/** A login from a user name and a password. */
export function toLogin(
  username: string,
  password: string,
  borrowed: Login['borrowed'] = undefined,
): Login {
  const wrong = randomBytes(PASSWORD_BYTES).toString('base64url')
  return { header: basic(username, password), wrongHeader: basic(username, wrong), borrowed }
}

/** RFC 7617, with UTF-8. */
function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Those of a run that was killed. */
async function removeLeftOvers(admin: Pick<Admin, 'revoke' | 'devices'>): Promise<void> {
  for (const device of await admin.devices()) {
    if (isLeftOver(device)) await admin.revoke(device.id)
  }
}

function isLeftOver({ label, username, createdAt }: DeviceSummary): boolean {
  const pid = USERNAME.exec(username)?.[1]
  if (label !== LABEL || pid === undefined) return false
  return Date.now() - Date.parse(createdAt) > ABANDONED_MS || !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it belongs to somebody else, and lives.
    return codeOf(error) !== 'ESRCH'
  }
}
