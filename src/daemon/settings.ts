/** Every setting in one table, by its name in the config file. @module */

import {
  GIB,
  HEARTBEAT_MS,
  MAX_CLIPBOARD_IMAGE_BYTES,
  MAX_FILE_BYTES,
  MAX_METADATA_BYTES,
  MAX_RECENT_ITEMS,
  MIN_FREE_BYTES,
  STAGING_QUOTA_BYTES,
  STAGING_TTL_MS,
} from '../core/limits.ts'
import type { DaemonSettings } from '../ports/admin.ts'
import { downloadFolder, ownSurroundings, stateFolder, type Surroundings } from './folders.ts'
import type { HostPort } from './host-port.ts'
import {
  ADDRESS,
  BASE_URL,
  BUS_URL,
  bytes,
  choice,
  count,
  duration,
  FLAG,
  HOST_PORT,
  list,
  LOOPBACK_HOST_PORT,
  PATH,
  optionalSetting,
  setting,
  settingInWords,
  type Setting,
  type SettingKind,
} from './setting-kinds.ts'
import { LOG_LEVELS, type LogLevel } from '../station/stream-logger.ts'

const COPY_KINDS = ['text', 'image', 'files'] as const

export type CopyKind = (typeof COPY_KINDS)[number]

export type ClipboardChoice = 'x11' | 'wayland' | 'macos' | 'windows' | 'none'

/** The settings of a daemon. Durations are milliseconds, sizes bytes, paths absolute. */
export interface Settings extends DaemonSettings {
  readonly dataDir: string
  /** `undefined`: see {@link defaultListen}, which depends on the mode. */
  readonly listen: readonly HostPort[] | undefined
  readonly control: HostPort
  readonly headless: boolean
  /** `undefined`: found out. */
  readonly clipboard: ClipboardChoice | undefined
  /** `local`: with an authority of its own. */
  readonly tls: 'off' | 'local'
  /** PEM files; both, or neither. */
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  /** `undefined`: see {@link tlsListen}. */
  readonly tlsListen: readonly HostPort[] | undefined
  /** Addresses, and subnets in CIDR notation. */
  readonly trustedProxies: readonly string[]
  /** Whether anybody gets the page for phones, which holds nothing of the clipboard. */
  readonly phonePage: 'on' | 'off'
  /** Whether that page shows paired devices the recent items. */
  readonly phoneRecent: 'on' | 'off'
  readonly maxConnectionsPerAddress: number
  readonly grace: number
  readonly maxMetadataBytes: number
  readonly stagingTtl: number
  readonly verifyQueue: number
  readonly heartbeat: number
  readonly shareTypes: readonly CopyKind[]
  readonly maxCopiedTextBytes: number
  readonly maxCopiedImageBytes: number
  /** Brokers, tried in turn; `undefined`: no bus. */
  readonly bus: readonly string[] | undefined
  /** A `.creds` file of NATS. */
  readonly busCredentials: string | undefined
  /** Certificates that brokers may be signed by, as PEM. */
  readonly busCa: string | undefined
  /** The number of recent items that are kept in memory, for the panel. */
  readonly recent: number
  /** Shows on the desktop what changed with the daemon. */
  readonly notify: boolean
  /** `undefined`: files, where the desktop is known to show it. */
  readonly notifyArrivals: 'off' | 'files' | 'all' | undefined
  readonly logLevel: LogLevel
  /** `serve` pairs a first device also when nobody watches it on a terminal. */
  readonly pairFirst: boolean
}

export type SettingName = keyof Settings

const HOUR_MS = 3_600_000

// Clients give a stream up after 50 s without bytes.
const DEAD_STREAM_MS = 50_000

const GATEWAY_PORT = 42_720
const TLS_PORT = 42_722

const FILE: SettingKind<string> = { ...PATH, placeholder: 'FILE' }

/** Where the gateway listens unless told: a node behind a proxy is not to be found on the LAN. */
export function defaultListen(mode: 'desktop' | 'headless'): readonly HostPort[] {
  const hosts = mode === 'headless' ? ['127.0.0.1'] : ['0.0.0.0', '::']
  return hosts.map((host) => ({ host, port: GATEWAY_PORT }))
}

/** Where it listens with TLS: beside where it listens without, unless told. */
export function tlsListen(
  { tlsListen: given }: Pick<Settings, 'tlsListen'>,
  plain: readonly HostPort[],
): readonly HostPort[] {
  const hosts = new Set(plain.map(({ host }) => host))
  return given ?? [...hosts].map((host) => ({ host, port: TLS_PORT }))
}

export const SETTINGS: { readonly [Name in SettingName]: Setting<Settings[Name]> } = {
  dataDir: settingInWords(
    PATH,
    'the state folder of the platform',
    stateFolder,
    'where everything is kept',
  ),
  listen: optionalSetting(
    list(HOST_PORT, { min: 1 }),
    '0.0.0.0:42720 and [::]:42720; headless 127.0.0.1:42720',
    'where the gateway listens; port 0 picks one',
  ),
  control: setting(
    LOOPBACK_HOST_PORT,
    { host: '127.0.0.1', port: 42_721 },
    'where commands reach the daemon; loopback only',
  ),
  headless: setting(FLAG, false, 'a node without a clipboard: keeps and serves'),
  clipboard: optionalSetting(
    choice(['x11', 'wayland', 'macos', 'windows', 'none']),
    'found out',
    'the system clipboard to use',
  ),
  publicUrl: optionalSetting(
    BASE_URL,
    'the first LAN or overlay address',
    'base URL to put into links',
  ),
  allowPublic: setting(FLAG, false, 'serve clients outside the local networks too, without TLS'),
  tls: setting(choice(['off', 'local']), 'off', 'serve HTTPS too, with an authority of our own'),
  tlsCert: optionalSetting(FILE, 'none', 'serve HTTPS too, with this certificate and its chain'),
  tlsKey: optionalSetting(FILE, 'none', 'the key of that certificate; for its owner alone'),
  tlsListen: optionalSetting(
    list(HOST_PORT, { min: 1 }),
    'the hosts of --listen, at port 42722',
    'where the gateway listens with TLS',
  ),
  trustedProxies: setting(list(ADDRESS, { min: 0 }), [], 'proxies whose X-Forwarded-For counts'),
  phonePage: setting(choice(['on', 'off']), 'on', 'serve the page for phones at /phone'),
  phoneRecent: setting(choice(['on', 'off']), 'on', 'show recent items on the page for phones'),
  maxConnections: setting(count(1, 1_000_000), 4096, 'connections at once'),
  maxConnectionsPerAddress: setting(
    count(1, 1_000_000),
    512,
    'of those that have not logged in, from one address',
  ),
  grace: setting(duration(0, HOUR_MS), 8000, 'time for uploads in flight when told to stop'),
  maxFileBytes: setting(bytes(1, MAX_FILE_BYTES), MAX_FILE_BYTES, 'largest file'),
  maxMetadataBytes: setting(bytes(1, MAX_METADATA_BYTES), MAX_METADATA_BYTES, 'largest document'),
  stagingTtl: setting(
    duration(1, 24 * 365 * HOUR_MS),
    STAGING_TTL_MS,
    'how long an uploaded file waits for its document',
  ),
  stagingQuotaBytes: setting(
    bytes(1, Number.MAX_SAFE_INTEGER),
    STAGING_QUOTA_BYTES,
    'all files that wait, together',
  ),
  minFreeBytes: setting(
    bytes(0, 1024 * 1024 * GIB),
    MIN_FREE_BYTES,
    'disk space that uploads leave free; 0 switches the check off',
  ),
  verifyWorkers: setting(count(1, 64), 1, 'passwords verified at once, 64 MiB each'),
  verifyQueue: setting(
    count(1, 100_000),
    32,
    'verifications that may wait, besides one or two for each device',
  ),
  heartbeat: setting(
    duration(10, DEAD_STREAM_MS - 1),
    HEARTBEAT_MS,
    'pause between the pings of an event stream',
  ),
  receivedDir: settingInWords(
    PATH,
    '"clipgate" in the download folder',
    downloadFolder,
    'where pushed files land',
  ),
  shareTypes: settingInWords(
    list(choice(COPY_KINDS), { min: 1 }),
    'all',
    () => COPY_KINDS,
    'what is shared of that which is copied here',
  ),
  maxCopiedTextBytes: setting(
    bytes(1, MAX_METADATA_BYTES),
    MAX_METADATA_BYTES,
    'largest text that is shared when it is copied here',
  ),
  maxCopiedImageBytes: setting(
    bytes(1, MAX_CLIPBOARD_IMAGE_BYTES),
    MAX_CLIPBOARD_IMAGE_BYTES,
    'largest image that is shared when it is copied here',
  ),
  bus: optionalSetting(
    list(BUS_URL, { min: 1 }),
    'none',
    'brokers of NATS over which a group tells its members what is new',
  ),
  busCredentials: optionalSetting(FILE, 'none', 'credentials file (.creds) for the broker'),
  busCa: optionalSetting(
    FILE,
    'the authorities that Node trusts',
    'PEM file of what the certificate of the broker may be signed by',
  ),
  recent: setting(
    count(0, MAX_RECENT_ITEMS),
    20,
    'how many recent items the panel lists, in memory only; 0 for none',
  ),
  notify: setting(FLAG, false, 'show on the desktop what goes wrong, and new devices'),
  notifyArrivals: optionalSetting(
    choice(['off', 'files', 'all']),
    'files, on Linux desktops that show it',
    'show on the desktop what devices send: what is saved as a file, or all',
  ),
  logLevel: setting(choice(LOG_LEVELS), 'info', 'the least that is logged'),
  pairFirst: settingInWords(
    FLAG,
    'only on a terminal',
    () => false,
    'pair a first device and show its QR code',
  ),
}

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName)

/** Whether the table knows `name`. */
export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

/** Fills in the default of every setting that is not given. */
export function completeSettings(
  given: { readonly [Name in SettingName]?: Settings[Name] | undefined },
  where: Surroundings = ownSurroundings(),
): Settings {
  // The table has a row, and so this object a member, for every key of Settings.
  const settings = {} as Settings
  for (const name of SETTING_NAMES) {
    let value: Settings[SettingName] | undefined = given[name]
    // To find a default may take a while: the download folder of Windows stands in its registry.
    const get = () => (value ??= SETTINGS[name].fallback(where))
    Object.defineProperty(settings, name, { enumerable: true, get })
  }
  return settings
}
