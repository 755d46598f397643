/** `clipgate devices` and `clipgate revoke`. @module */

import { countOf } from '../lib/count-of.ts'
import type { DeviceSummary } from '../ports/admin.ts'
import { printResult, type SettingsInvocation } from './command.ts'
import { findDevice, SHORT_ID_LENGTH } from './find-device.ts'
import { formatAgo } from './quantities.ts'
import { columnsOf, complain, type Shell } from './shell.ts'
import { formatTable } from './text-table.ts'
import { withAdmin } from './with-admin.ts'

const HEADING = ['LABEL', 'ID', 'USER NAME', 'KIND', 'LAST SEEN', 'FROM', 'CLIENT', 'STREAMS']

/** A user name is what other commands are told. */
const NARROWING = { whole: ['ID', 'USER NAME'], spare: ['CLIENT', 'ID'] }

/** Runs `clipgate devices`. */
export async function runDevices(call: SettingsInvocation): Promise<number> {
  const devices = await withAdmin(call, (admin) => admin.devices())
  const isRefused = devices.some(({ refused }) => refused !== undefined)
  const heading = isRefused ? [...HEADING, 'REFUSED LOGINS'] : HEADING
  const rows = [heading, ...devices.map((device) => toRow(device, isRefused, Date.now()))]
  const lines = formatTable(rows, columnsOf(call.shell), NARROWING)
  const none = ['No device is paired yet. Pair one: clipgate pair']
  printResult(call, devices.map(toJson), devices.length === 0 ? none : lines)
  return 0
}

/** Runs `clipgate revoke`. */
export async function runRevoke(call: SettingsInvocation): Promise<number> {
  const [device = ''] = call.args.operands
  const { id, unsaved } = await withAdmin(call, async (admin) =>
    admin.revoke(await findDevice(admin, device)),
  )
  const lines = [`${id} is gone; its password does not work any more.`]
  printResult(call, unsaved === undefined ? { id } : { id, unsaved }, lines)
  return tellUnsaved(call.shell, unsaved)
}

/** Tells that a revocation may not last. @returns The exit code: that is not done. */
export function tellUnsaved(shell: Shell, unsaved: string | undefined): number {
  if (unsaved === undefined) return 0
  complain(shell, `${unsaved}. The device is shut out all the same, until the daemon is restarted;`)
  complain(shell, 'the daemon saves that when it can, and "clipgate status" tells whether it has')
  return 1
}

/** The members that scripts rely on, in their order. */
function toJson(device: DeviceSummary): object {
  const { id, label, username, kind, createdAt, streams, active, refused } = device
  const { lastSeenAt, lastSeenAddress, lastClient } = device
  const last = { lastSeenAt, lastSeenAddress, lastClient }
  return { id, label, username, kind, createdAt, ...last, streams, active, refused }
}

function toRow(device: DeviceSummary, isRefused: boolean, now: number): readonly string[] {
  const { label, username, kind, lastSeenAt, lastSeenAddress = '-', lastClient = '-' } = device
  const id = device.id.slice(0, SHORT_ID_LENGTH)
  const seen = lastSeenAt === undefined ? 'never' : formatAgo(lastSeenAt, now)
  const streams = device.active ? String(device.streams) : 'no password'
  const row = [label, id, username, kind, seen, lastSeenAddress, lastClient, streams]
  return isRefused ? [...row, describeRefused(device, now)] : row
}

/** Why a phone may not get in: somebody has its user name, and another password. */
function describeRefused({ refused }: DeviceSummary, now: number): string {
  if (refused === undefined) return '-'
  const { count, lastAt, lastAddress = 'unknown' } = refused
  return `${countOf(count, 'time')}: the password, ${formatAgo(lastAt, now)} from ${lastAddress}`
}
