/** `clipgate status`. @module */

import { listAddresses, readInterfaces } from '../daemon/addresses.ts'
import { isWildcardHost, parseHostPort } from '../daemon/host-port.ts'
import { countOf } from '../lib/count-of.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import type { DaemonStatus, TlsStatus } from '../ports/admin.ts'
import type { BusStatus } from '../ports/bus.ts'
import { printResult, type SettingsInvocation } from './command.ts'
import { describePause, describeTransfer, formatAgo } from './words/quantities.ts'
import { TO_START } from './panel.ts'
import { columnsOf } from './shell.ts'
import { formatBehind } from './text-table.ts'
import { visible } from './visible.ts'
import { withAdmin } from './devices.ts'

/** The exit code that tells scripts that nothing runs; `systemctl status` has the same. */
const NOT_RUNNING = 3

/** Runs `clipgate status`. */
export async function runStatus(call: SettingsInvocation): Promise<number> {
  const status = await withAdmin(call, (admin) => admin.status())
  const rows = describe(status, Date.now())
  const columns = columnsOf(call.shell)
  const lines = rows.flatMap(([name, value]) =>
    formatBehind(name.padEnd(11), visible(value), columns),
  )
  printResult(call, status, lines)
  return status.running ? 0 : NOT_RUNNING
}

const TITLES = { gateway: 'Gateway', tls: 'HTTPS', control: 'Control' } as const

type Row = readonly [name: string, value: string]

function describe(status: DaemonStatus, now: number): readonly Row[] {
  const { item, storage, listeners, peers, devices, devicesError, paused, bus } = status
  const { clipboard, clipboardError, receivedError, lostUrls, transfers, tls } = status
  const what =
    item && `${item.type}, ${formatBytes(item.size)}, ${formatAgo(item.activatedAt, now)}`
  const lost = `this machine is not ${lostUrls.join(', ')} any more; new codes: clipgate rotate ID`
  const room = `${storage.dataDir}, ${formatBytes(storage.freeBytes)} free`
  const rows: readonly (readonly [name: string, value: string | undefined])[] = [
    ['Daemon', describeDaemon(status, now)],
    ['Clipboard', status.running ? withError(clipboard, clipboardError) : undefined],
    ['Received', receivedError],
    ['Paused', paused && describePause(paused)],
    ['Item', what ?? 'none yet'],
    ['Devices', `${devices}${devicesError === undefined ? '' : `; unsaved: ${devicesError}`}`],
    ['Links', lostUrls.length === 0 ? undefined : lost],
    ['Storage', withError(room, storage.error)],
    ['Staged', `${countOf(storage.stagedUploads, 'upload')}, ${formatBytes(storage.stagedBytes)}`],
    ...transfers.map((transfer) => ['Transfer', describeTransfer(transfer)] as const),
    ...listeners.map(({ name, urls, error }) => {
      const shown =
        name === 'tls' && tls !== undefined
          ? [describeTls(tls)]
          : urls.flatMap((url) => reachable(url, status.settings?.publicUrl))
      const failure = error === undefined ? '' : ` failed: ${error}`
      return [TITLES[name], `${shown.join(', ')}${failure}`] as const
    }),
    ['Bus', bus && describeBus(bus)],
    ...peers.map(({ name, state, error }) => {
      return ['Joined', withError(`${name}, ${state}`, error)] as const
    }),
  ]
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

function describeTls({ urls, notAfter, fingerprint, error }: TlsStatus): string {
  const names = 'its certificate names no address of this machine'
  const where = urls.length === 0 ? names : urls.join(', ')
  const until = `certificate until ${notAfter.slice(0, 10)}`
  const whose = fingerprint === undefined ? until : `${until}, of the authority ${fingerprint}`
  return withError(`${where}; ${whose}`, error)
}

/** Where devices find a listener that is bound to all addresses, as the panel has it. */
export function reachable(url: string, publicUrl: string | undefined): readonly string[] {
  const bound = parseHostPort(new URL(url).host)
  if (bound === undefined || !isWildcardHost(bound.host)) return [url]
  return listAddresses([bound], readInterfaces(), publicUrl).map((address) => address.url)
}

function describeDaemon({ running, version, pid, mode, startedAt }: DaemonStatus, now: number) {
  if (!running) return `not running (clipgate ${version}); ${TO_START}`
  const since = startedAt === undefined ? '' : `, started ${formatAgo(startedAt, now)}`
  return `clipgate ${version}, ${mode ?? 'starting'}, process ${pid ?? 'unknown'}${since}`
}

function describeBus({ urls, state, error, group, members, refused }: BusStatus): string {
  const others = members === 0 ? 'nobody else heard of lately' : countOf(members, 'other member')
  return [
    withError(`${urls.join(', ')}, ${state}`, error),
    `group ${group}, ${others}`,
    ...(refused === 0
      ? []
      : [`${countOf(refused, 'signal')} refused: not sealed with our group key`]),
  ].join('; ')
}

function withError(state: string, error: string | undefined): string {
  return error === undefined ? state : `${state}: ${error}`
}
