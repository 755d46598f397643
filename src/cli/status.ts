/** `clipgate status`. @module */

import { formatBytes } from '../lib/format-bytes.ts'
import type { DaemonStatus } from '../ports/admin.ts'
import type { BusStatus } from '../ports/bus.ts'
import { printResult, type SettingsInvocation } from './command.ts'
import { describePause, formatAgo } from './quantities.ts'
import { visible } from './visible.ts'
import { withAdmin } from './with-admin.ts'

/** Runs `clipgate status`. */
export async function runStatus(call: SettingsInvocation): Promise<number> {
  const status = await withAdmin(call, (admin) => admin.status())
  const rows = describe(status, Date.now())
  const lines = rows.map(([name, value]) => `${name.padEnd(11)}${visible(value)}`)
  printResult(call, status, lines)
  return 0
}

function describe(status: DaemonStatus, now: number): readonly (readonly [string, string])[] {
  const { item, storage, listeners, peers, devices, devicesError, paused, bus } = status
  return [
    ['Daemon', describeDaemon(status, now)],
    ...(status.running ? [['Clipboard', describeClipboard(status)] as const] : []),
    ...(paused === undefined ? [] : [['Paused', describePause(paused)] as const]),
    [
      'Item',
      item === undefined
        ? 'none yet'
        : `${item.type}, ${formatBytes(item.size)}, ${formatAgo(item.activatedAt, now)}`,
    ],
    ['Devices', `${devices}${devicesError === undefined ? '' : `; unsaved: ${devicesError}`}`],
    ['Storage', `${storage.dataDir}, ${formatBytes(storage.freeBytes)} free`],
    ['Staged', `${storage.stagedUploads} uploads, ${formatBytes(storage.stagedBytes)}`],
    ...listeners.map(({ name, urls, error }): readonly [string, string] => {
      const title = name === 'gateway' ? 'Gateway' : 'Control'
      return [title, error === undefined ? urls.join(', ') : `${urls.join(', ')} failed: ${error}`]
    }),
    ...(bus === undefined ? [] : [['Bus', describeBus(bus)] as const]),
    ...peers.map(({ name, state, error }): readonly [string, string] => [
      'Joined',
      `${name}, ${state}${error === undefined ? '' : `: ${error}`}`,
    ]),
  ]
}

function describeDaemon(
  { running, version, pid, mode, startedAt }: DaemonStatus,
  now: number,
): string {
  if (!running) return `not running (clipgate ${version}); start it: clipgate serve`
  const since = startedAt === undefined ? '' : `, started ${formatAgo(startedAt, now)}`
  return `clipgate ${version}, ${mode ?? 'starting'}, process ${pid ?? 'unknown'}${since}`
}

function describeBus({ urls, state, error, group, members, refused }: BusStatus): string {
  const others = members === 0 ? 'nobody else heard of lately' : `${members} other members`
  return [
    `${urls.join(', ')}, ${state}${error === undefined ? '' : `: ${error}`}`,
    `group ${group}, ${others}`,
    ...(refused === 0 ? [] : [`${refused} signals refused: not sealed with our group key`]),
  ].join('; ')
}

function describeClipboard({ clipboard, clipboardError }: DaemonStatus): string {
  return clipboardError === undefined ? clipboard : `${clipboard}: ${clipboardError}`
}
