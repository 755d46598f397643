/** `clipgate devices` and `clipgate revoke`. @module */

import type { DeviceSummary } from '../ports/admin.ts'
import { printResult, type SettingsInvocation } from './command.ts'
import { formatAgo } from './quantities.ts'
import { columnsOf, complain, type Shell } from './shell.ts'
import { formatTable } from './text-table.ts'
import { withAdmin } from './with-admin.ts'

const HEADING = ['LABEL', 'USER NAME', 'KIND', 'LAST SEEN', 'FROM', 'CLIENT', 'STREAMS']

/** Runs `clipgate devices`. */
export async function runDevices(call: SettingsInvocation): Promise<number> {
  const devices = await withAdmin(call, (admin) => admin.devices())
  const rows = [HEADING, ...devices.map((device) => toRow(device, Date.now()))]
  const lines = formatTable(rows, columnsOf(call.shell))
  const none = ['No device is paired yet. Pair one: clipgate pair']
  printResult(call, devices.map(toJson), devices.length === 0 ? none : lines)
  return 0
}

/** Runs `clipgate revoke`. */
export async function runRevoke(call: SettingsInvocation): Promise<number> {
  const [device = ''] = call.args.operands
  const { id, unsaved } = await withAdmin(call, (admin) => admin.revoke(device))
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
  const { id, label, username, kind, createdAt, streams, active } = device
  const { lastSeenAt, lastSeenAddress, lastClient } = device
  const last = { lastSeenAt, lastSeenAddress, lastClient }
  return { id, label, username, kind, createdAt, ...last, streams, active }
}

function toRow(device: DeviceSummary, now: number): readonly string[] {
  const { label, username, kind, lastSeenAt, lastSeenAddress = '-', lastClient = '-' } = device
  const seen = lastSeenAt === undefined ? 'never' : formatAgo(lastSeenAt, now)
  const streams = device.active ? String(device.streams) : 'no password'
  return [label, username, kind, seen, lastSeenAddress, lastClient, streams]
}
