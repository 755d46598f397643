/**
 * Every setting, in one table.
 *
 * The name here is the one in the config file; the spellings of options and variables are
 * derived from it in `load-settings.ts`.
 *
 * @module
 */

import {
  GIB,
  HEARTBEAT_MS,
  MAX_FILE_BYTES,
  MAX_METADATA_BYTES,
  MIN_FREE_BYTES,
  STAGING_QUOTA_BYTES,
  STAGING_TTL_MS,
} from '../core/limits.ts'
import { BUS_SETTINGS, type BusSettings } from './bus-settings.ts'
import { COPY_SETTINGS, type CopySettings } from './copy-settings.ts'
import { downloadFolder, stateFolder } from './folders.ts'
import type { HostPort } from './host-port.ts'
import {
  ADDRESS,
  BASE_URL,
  bytes,
  choice,
  count,
  duration,
  FLAG,
  HOST_PORT,
  list,
  LOOPBACK_HOST_PORT,
  PATH,
  type Setting,
} from './setting-kinds.ts'
import { LOG_LEVELS, type LogLevel } from './stream-logger.ts'

export type ClipboardChoice = 'x11' | 'wayland' | 'macos' | 'windows' | 'none'

/** What a daemon runs with. Durations are milliseconds, sizes bytes, paths absolute. */
export interface Settings extends BusSettings, CopySettings {
  readonly dataDir: string
  /** `undefined`: see {@link defaultListen}, which depends on the mode. */
  readonly listen: readonly HostPort[] | undefined
  readonly control: HostPort
  readonly headless: boolean
  /** `undefined`: found out. */
  readonly clipboard: ClipboardChoice | undefined
  /** Without a trailing slash. */
  readonly publicUrl: string | undefined
  readonly allowPublic: boolean
  /** Addresses, and subnets in CIDR notation. */
  readonly trustedProxies: readonly string[]
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly grace: number
  readonly maxFileBytes: number
  readonly maxMetadataBytes: number
  readonly stagingTtl: number
  readonly stagingQuotaBytes: number
  /** 0: not checked. */
  readonly minFreeBytes: number
  readonly verifyWorkers: number
  readonly verifyQueue: number
  readonly heartbeat: number
  readonly receivedDir: string
  /** Shows on the desktop what changed with the daemon. */
  readonly notify: boolean
  readonly logLevel: LogLevel
  /** `serve` pairs a first device also when nobody watches it on a terminal. */
  readonly pairFirst: boolean
}

export type SettingName = keyof Settings

const HOUR_MS = 3_600_000

// Clients give a stream up after 50 s without bytes (Events, rule 1).
const DEAD_STREAM_MS = 50_000

const GATEWAY_PORT = 42_720

const CONTROL: HostPort = { host: '127.0.0.1', port: 42_721 }

/** Where the gateway listens unless told: a node behind a proxy is not to be found on the LAN. */
export function defaultListen(mode: 'desktop' | 'headless'): readonly HostPort[] {
  const hosts = mode === 'headless' ? ['127.0.0.1'] : ['0.0.0.0', '::']
  return hosts.map((host) => ({ host, port: GATEWAY_PORT }))
}

export const SETTINGS: { readonly [Name in SettingName]: Setting<Settings[Name]> } = {
  dataDir: {
    kind: PATH,
    fallback: stateFolder,
    byDefault: 'the state folder of the platform',
    meaning: 'where everything is kept',
  },
  listen: {
    kind: list(HOST_PORT, { min: 1 }),
    fallback: () => undefined,
    byDefault: '0.0.0.0:42720 and [::]:42720; headless 127.0.0.1:42720',
    meaning: 'where the gateway listens; port 0 picks one',
  },
  control: {
    kind: LOOPBACK_HOST_PORT,
    fallback: () => CONTROL,
    byDefault: '127.0.0.1:42721',
    meaning: 'where commands reach the daemon; loopback only',
  },
  headless: {
    kind: FLAG,
    fallback: () => false,
    byDefault: 'off',
    meaning: 'a node without a clipboard: keeps and serves',
  },
  clipboard: {
    kind: choice(['x11', 'wayland', 'macos', 'windows', 'none']),
    fallback: () => undefined,
    byDefault: 'found out',
    meaning: 'the system clipboard to use',
  },
  publicUrl: {
    kind: BASE_URL,
    fallback: () => undefined,
    byDefault: 'the first LAN or overlay address',
    meaning: 'base URL to put into links',
  },
  allowPublic: {
    kind: FLAG,
    fallback: () => false,
    byDefault: 'off',
    meaning: 'serve clients outside the local networks too, without TLS',
  },
  trustedProxies: {
    kind: list(ADDRESS, { min: 0 }),
    fallback: () => [],
    byDefault: 'none',
    meaning: 'proxies whose X-Forwarded-For counts',
  },
  maxConnections: {
    kind: count(1, 1_000_000),
    fallback: () => 4096,
    byDefault: '4096',
    meaning: 'connections at once',
  },
  maxConnectionsPerAddress: {
    kind: count(1, 1_000_000),
    fallback: () => 512,
    byDefault: '512',
    meaning: 'of those that have not logged in, from one address',
  },
  grace: {
    kind: duration(0, HOUR_MS),
    fallback: () => 8000,
    byDefault: '8s',
    meaning: 'time for uploads in flight when told to stop',
  },
  maxFileBytes: {
    kind: bytes(1, MAX_FILE_BYTES),
    fallback: () => MAX_FILE_BYTES,
    byDefault: '10GiB',
    meaning: 'largest file',
  },
  maxMetadataBytes: {
    kind: bytes(1, MAX_METADATA_BYTES),
    fallback: () => MAX_METADATA_BYTES,
    byDefault: '16MiB',
    meaning: 'largest document',
  },
  stagingTtl: {
    kind: duration(1, 24 * 365 * HOUR_MS),
    fallback: () => STAGING_TTL_MS,
    byDefault: '1h',
    meaning: 'how long an uploaded file waits for its document',
  },
  stagingQuotaBytes: {
    kind: bytes(1, Number.MAX_SAFE_INTEGER),
    fallback: () => STAGING_QUOTA_BYTES,
    byDefault: '20GiB',
    meaning: 'all files that wait, together',
  },
  minFreeBytes: {
    kind: bytes(0, 1024 * 1024 * GIB),
    fallback: () => MIN_FREE_BYTES,
    byDefault: '256MiB',
    meaning: 'disk space that uploads leave free; 0 switches the check off',
  },
  verifyWorkers: {
    kind: count(1, 64),
    fallback: () => 1,
    byDefault: '1',
    meaning: 'passwords verified at once, 64 MiB each',
  },
  verifyQueue: {
    kind: count(1, 100_000),
    fallback: () => 32,
    byDefault: '32',
    meaning: 'verifications that may wait, besides one or two for each device',
  },
  heartbeat: {
    kind: duration(10, DEAD_STREAM_MS - 1),
    fallback: () => HEARTBEAT_MS,
    byDefault: '25s',
    meaning: 'pause between the pings of an event stream',
  },
  receivedDir: {
    kind: PATH,
    fallback: downloadFolder,
    byDefault: '"clipgate" in the download folder',
    meaning: 'where pushed files land',
  },
  ...COPY_SETTINGS,
  ...BUS_SETTINGS,
  notify: {
    kind: FLAG,
    fallback: () => false,
    byDefault: 'off',
    meaning: 'show on the desktop what goes wrong, and new devices',
  },
  logLevel: {
    kind: choice(LOG_LEVELS),
    fallback: () => 'info',
    byDefault: 'info',
    meaning: 'the least that is logged',
  },
  pairFirst: {
    kind: FLAG,
    fallback: () => false,
    byDefault: 'only on a terminal',
    meaning: 'pair a first device and show its QR code',
  },
}

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName)

/** Whether the table knows `name`. */
export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}
