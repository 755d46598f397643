/** `clipgate devices` and `clipgate revoke`, and how commands get at a device. @module */

import { openAdmin } from '../daemon/open-admin.ts'
import { createStreamLogger } from '../station/stream-logger.ts'
import { countOf } from '../lib/count-of.ts'
import { formatClient } from '../lib/format-client.ts'
import type { Admin, DeviceSummary } from '../ports/admin.ts'
import { CommandError, printResult, type SettingsInvocation } from './command.ts'
import { formatAgo } from './words/quantities.ts'
import { columnsOf, complain, print, type Shell } from './shell.ts'
import { formatTable } from './text-table.ts'
import { visible } from './visible.ts'

const HEADING = ['LABEL', 'ID', 'USER NAME', 'KIND', 'LAST SEEN', 'FROM', 'CLIENT', 'STREAMS']

/** A user name is what other commands are told; half a time or address says nothing. */
const NARROWING = {
  whole: ['ID', 'USER NAME', 'LAST SEEN', 'FROM'],
  spare: ['CLIENT', 'ID', 'STREAMS', 'FROM', 'KIND', 'LAST SEEN'],
}

/** Runs `clipgate devices`. */
export async function runDevices(call: SettingsInvocation): Promise<number> {
  const devices = await withAdmin(call, (admin) => admin.devices())
  if (call.args.flag('names')) return printNames(call.shell, devices.map(typedName(devices)))
  const isRefused = devices.some(({ refused }) => refused !== undefined)
  const heading = isRefused ? [...HEADING, 'REFUSED LOGINS'] : HEADING
  const rows = [heading, ...devices.map((device) => toRow(device, isRefused, Date.now()))]
  const lines = formatTable(rows, columnsOf(call.shell), NARROWING)
  const none = ['No device is paired yet. Pair one: clipgate pair']
  printResult(call, devices.map(toJson), devices.length === 0 ? none : lines)
  return 0
}

/** The label of a device, or its user name where its label cannot be typed or is of several. */
function typedName(devices: readonly DeviceSummary[]): (device: DeviceSummary) => string {
  return ({ label, username }) => {
    const namesakes = devices.filter((other) => other.label.toLowerCase() === label.toLowerCase())
    const isPlain = visible(label) === label && !label.startsWith('-')
    return isPlain && namesakes.length === 1 ? label : username
  }
}

/** Prints names as other commands take them, and as shells read them to complete a line. */
export function printNames(shell: Shell, names: readonly string[]): number {
  for (const name of names) print(shell, visible(name))
  return 0
}

/** Runs `clipgate revoke`. */
export async function runRevoke(call: SettingsInvocation): Promise<number> {
  const [device = ''] = call.args.operands
  const { label, id, unsaved } = await withAdmin(call, async (admin) => {
    const { label, id } = await findDevice(admin, device)
    return { label, ...(await admin.revoke(id)) }
  })
  const lines = [`${visible(label)} is gone; its password does not work any more.`]
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
  const { label, username, kind, lastSeenAt, lastSeenAddress = '-', lastClient } = device
  const id = device.id.slice(0, SHORT_ID_LENGTH)
  const client = lastClient === undefined ? '-' : formatClient(lastClient)
  const seen = lastSeenAt === undefined ? 'never' : formatAgo(lastSeenAt, now)
  const streams = device.active ? String(device.streams) : 'no password'
  const row = [label, id, username, kind, seen, lastSeenAddress, client, streams]
  return isRefused ? [...row, describeRefused(device, now)] : row
}

/** Why a phone may not get in: somebody has its user name, and another password. */
function describeRefused({ refused }: DeviceSummary, now: number): string {
  if (refused === undefined) return '-'
  const { count, lastAt, lastAddress = 'unknown' } = refused
  return `${countOf(count, 'time')}: the password, ${formatAgo(lastAt, now)} from ${lastAddress}`
}

/** Characters of an id that tables show; commands take as many, or more. */
const SHORT_ID_LENGTH = 12

/**
 * The device with this id, beginning of an id, user name or label.
 *
 * @throws {CommandError} when there is none, or more than one.
 */
export async function findDevice(
  admin: Pick<Admin, 'devices'>,
  name: string,
): Promise<DeviceSummary> {
  const devices = await admin.devices()
  for (const isMeant of MEANINGS) {
    const [found, ...others] = devices.filter((device) => isMeant(device, name))
    if (found !== undefined && others.length === 0) return found
    if (found === undefined) continue
    const all = [found, ...others].map(({ id, username }) => `${id} (${username})`).join(', ')
    throw new CommandError(`Cannot tell which device "${name}" is: ${all}; name it by its id`)
  }
  throw new CommandError(`Cannot find a device "${name}"; see "clipgate devices"`)
}

/** The meanings of a name, the surest first. */
const MEANINGS: readonly ((device: DeviceSummary, name: string) => boolean)[] = [
  ({ id, username }, name) => id === name || username === name,
  ({ label }, name) => label === name,
  ({ label }, name) => label.toLowerCase() === name.toLowerCase(),
  ({ id }, name) => name.length >= SHORT_ID_LENGTH && id.startsWith(name),
]

/** Lets `use` act on the daemon, or on its data directory while it does not run. */
export async function withAdmin<Result>(
  { settings, shell }: SettingsInvocation,
  use: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const admin = await openAdmin(settings, createStreamLogger(shell.stderr, 'warn'))
  try {
    return await use(admin)
  } finally {
    await admin.close()
  }
}
