/**
 * `clipgate devices`.
 *
 * @module
 */

import type { DeviceSummary } from '../daemon/open-admin.ts'
import type { SettingsInvocation } from './command.ts'
import { formatAgo } from './quantities.ts'
import { columnsOf, print, printJson } from './shell.ts'
import { formatTable } from './text-table.ts'
import { withAdmin } from './with-admin.ts'

const HEADING: readonly string[] = [
  'LABEL',
  'USER NAME',
  'KIND',
  'LAST SEEN',
  'FROM',
  'CLIENT',
  'STREAMS',
]

export async function runDevices(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const devices = await withAdmin(call, (admin) => admin.devices())
  if (args.flag('json')) printJson(shell, devices.map(toJson))
  else if (devices.length === 0) print(shell, 'No device is paired yet. Pair one: clipgate pair')
  else {
    const rows = [HEADING, ...devices.map((device) => toRow(device, Date.now()))]
    for (const line of formatTable(rows, columnsOf(shell))) print(shell, line)
  }
  return 0
}

/** The members that scripts rely on, in their order. */
function toJson(device: DeviceSummary): object {
  const { id, label, username, kind, createdAt, streams, active } = device
  const { lastSeenAt, lastSeenAddress, lastClient } = device
  return {
    id,
    label,
    username,
    kind,
    createdAt,
    lastSeenAt,
    lastSeenAddress,
    lastClient,
    streams,
    active,
  }
}

function toRow(device: DeviceSummary, now: number): readonly string[] {
  const { label, username, kind, lastSeenAt, lastSeenAddress = '-', lastClient = '-' } = device
  const seen = lastSeenAt === undefined ? 'never' : formatAgo(lastSeenAt, now)
  const streams = device.active ? String(device.streams) : 'no password'
  return [label, username, kind, seen, lastSeenAddress, lastClient, streams]
}
