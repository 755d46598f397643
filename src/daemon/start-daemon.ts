/** The composition root: one data directory, two listeners, and perhaps a desktop. @module */

import { hostname } from 'node:os'
import { join } from 'node:path'
import { MAX_RECENT_BYTES } from '../core/limits.ts'
import { OWNER_ID } from '../core/owner.ts'
import { createControl } from '../control/create-control.ts'
import { CONTROL_TOKEN_FILE, createControlToken } from '../control/control-token.ts'
import { createDeviceAdmin, type LinkBase, withTrail } from '../control/device-admin.ts'
import { affordableBytes, warnOfShortMemory } from '../devices/login-memory.ts'
import type { Notifier } from '../desktop/notifications/notifier.ts'
import { createGateway, type Gateway } from '../gateway/create-gateway.ts'
import type { GatewayOptions, SecureWay } from '../gateway/gateway-ports.ts'
import { createOwnerRoutes } from '../gateway/owner-routes.ts'
import { RememberedItems } from '../inbound/remembered-items.ts'
import { AsyncCleanup } from '../lib/async-cleanup.ts'
import type { CircleMember } from '../peers/bus/circle-member.ts'
import { PeerConnections } from '../peers/peer-connections.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { openPath } from '../lib/open-path.ts'
import type { Admin } from '../ports/admin.ts'
import type { Logger } from '../ports/logger.ts'
import type { Panel } from '../ports/panel.ts'
import { toUnusable } from '../storage/home/own-files.ts'
import { openComputerId, secondHalf } from './computer-id.ts'
import { chooseBaseUrl, listAddresses, loopbackUrl, readInterfaces } from './addresses.ts'
import { formatBaseUrl, type HostPort } from './host-port.ts'
import { Listeners } from './listeners.ts'
import { openBus } from './open-bus.ts'
import { openWhenFree } from './open-configured.ts'
import { createStreamLogger, Happenings } from '../station/stream-logger.ts'
import type { Station } from '../station/open-station.ts'
import { openDesktop, placeOf } from './open-desktop.ts'
import type { Desktop } from './share-desktop.ts'
import { OpeningFile } from './opening-file.ts'
import { describeTransfers, readStatus, toldSettings } from './read-status.ts'
import { completeSettings, defaultListen, type ClipboardChoice, type Settings } from './settings.ts'
import { openTls, type Tls } from './open-tls.ts'
import { readVersion } from './version.ts'
import { welcome } from './welcome.ts'
import { tellArrivals, type Witness } from './witness.ts'

/** Said once both listeners accept. */
export interface Ready {
  /** Base URL of the gateway on this machine, with the port really bound. */
  readonly gateway: string
  readonly control: string
  /** Base URLs of all addresses that the gateway is bound to. */
  readonly listening: readonly string[]
  readonly mode: 'desktop' | 'headless'
  readonly clipboard: ClipboardChoice
  readonly pid: number
}

/** A running daemon. */
export interface Daemon {
  readonly ready: Ready
  /** Warnings for the owner although the start succeeded; one line each. */
  readonly warnings: readonly string[]
  readonly admin: Admin
  /** Resolves when the owner has asked for the end: `clipgate stop`. Then call {@link stop}. */
  readonly stopAsked: Promise<void>
  /**
   * Refuses new requests, lets uploads and the saving of files finish within the grace period,
   * and closes everything.
   */
  stop(): Promise<Stopped>
}

/** The end of a daemon. */
export interface Stopped {
  /** Requests of devices that were not done within the grace period. */
  readonly cut: number
}

/** Options of {@link startDaemon}. */
export interface StartDaemonOptions {
  /** By default stderr, at the level of the settings. */
  readonly logger?: Logger
  /** Told which devices {@link Daemon.admin} pairs, rotates and revokes. By default `logger`. */
  readonly trail?: Logger
  /** By default the clock of the system. */
  readonly clock?: Clock
  /** Told what devices do, as it happens. */
  readonly witness?: Witness | undefined
}

/**
 * Starts a daemon. Settings that are not given have their defaults.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY`, `DATA_DIRECTORY_UNUSABLE`, `DATA_CORRUPT`.
 * @throws {Error} when a listener cannot be bound, naming its address. Nothing is left behind.
 */
export async function startDaemon(
  given: Partial<Settings>,
  options: StartDaemonOptions = {},
): Promise<Daemon> {
  const settings = completeSettings(given)
  const { clock = systemClock } = options
  const logger = options.logger ?? createStreamLogger(process.stderr, settings.logLevel)
  const cleanup = new AsyncCleanup()
  try {
    // Nobody else needs to load it.
    const load = () => import('../desktop/notifications/notifier.ts')
    const notifier = settings.notify ? (await load()).createNotifier({ clock, logger }) : undefined
    cleanup.add(async () => notifier?.close())
    let station: Station | undefined
    const happenings = new Happenings(clock, (id) => station?.devices.find(id)?.label)
    station = await openWhenFree(settings, happenings.hear(logger), {
      clock,
      onDiskFull: (isFull) => notifier?.report('disk', isFull),
      onFirstSighting: ({ label }) => notifier?.greet(label),
    })
    const { close } = station
    cleanup.add(close)
    tellArrivals(station, options.witness)
    const desktop = await openDesktop(station, settings, (isTrouble) => {
      notifier?.report('clipboard', isTrouble)
    })
    cleanup.add(() => desktop.close())
    const daemon = await run({ settings, station, happenings, desktop, notifier, cleanup })
    const trail = happenings.hear(options.trail ?? logger)
    return { ...daemon, admin: withTrail(daemon.admin, trail, 'start') }
  } catch (error) {
    await cleanup.run()
    throw error
  }
}

/** The parts of a daemon before it listens. */
interface Parts {
  readonly settings: Settings
  readonly station: Station
  readonly happenings: Happenings
  readonly desktop: Desktop
  readonly notifier: Notifier | undefined
  readonly cleanup: AsyncCleanup
}

/** The parts of a daemon before its owner can ask anything. */
interface Running extends Parts {
  readonly recent: RememberedItems
  readonly listeners: Listeners
  readonly gateway: Gateway
  /** Where the gateway is bound, without TLS. */
  readonly bound: readonly HostPort[]
  readonly tls: Tls | undefined
  readonly peers: PeerConnections
  readonly bus: CircleMember | undefined
  readonly askToStop: () => void
}

async function run(parts: Parts): Promise<Daemon> {
  const { settings, station, desktop, notifier, cleanup } = parts
  const listeners = new Listeners(station.logger, {
    onTrouble: (name, isTrouble) => notifier?.report(name === 'tls' ? 'gateway' : name, isTrouble),
  })
  const owner = { kind: 'device', deviceId: OWNER_ID, passwordHash: undefined } as const
  const maxBytes = affordableBytes(MAX_RECENT_BYTES)
  const recent = new RememberedItems({ ...station, most: settings.recent, maxBytes, owner })
  station.inbound.addEffect((stored) => recent.add(stored))
  let endsAt = 0
  // Once nobody can send any more, and while there is a folder to save in.
  cleanup.add(async () => {
    const left = await desktop.endSaving(endsAt - station.clock.monotonic())
    if (left > 0) station.logger.warn('Files are not saved yet: the next start goes on', { left })
  })
  let tls: Tls | undefined
  const id = await openComputerId(station.directory.path, station.logger)
  const trust: ForPhones['trust'] = (path, by) => secondHalf(id, path) ?? tls?.trust(path, by)
  const https = (): SecureWay | undefined => {
    const { urls = [], source } = tls?.status() ?? {}
    return urls.length === 0 ? undefined : { urls, needsTrust: source === 'local' }
  }
  const { gateway, bound, cut } = await startGateway(parts, listeners, { id, recent, trust, https })
  tls = await openTls(settings, station, { listeners, gateway, plain: bound })
  cleanup.add(async () => tls?.close())
  const linkBase = () => chooseBaseUrl(bound, readInterfaces(), settings.publicUrl)

  const peers = new PeerConnections({
    ...station,
    store: station.peerStore,
    memberId: station.member.id,
    maxFileBytes: settings.maxFileBytes,
  })
  cleanup.add(() => peers.close())
  peers.start()
  const bus = await openBus(settings, station, () => linkBase().url)
  cleanup.add(() => bus?.close())

  let askToStop: () => void = () => undefined
  const stopAsked = new Promise<void>((resolve) => (askToStop = resolve))
  const more = { recent, listeners, gateway, bound, tls, peers, bus, askToStop }
  const running: Running = { ...parts, ...more }
  const admin = createAdmin(running, linkBase)
  const control = await startControl(running, admin)
  await station.directory.announce({ control })
  // Phones and the owner are served whatever becomes of the clipboard, which may take its time.
  const missing = await desktop.opened()

  // A node behind a proxy listens on loopback on purpose; `pair` warns of the address anyway.
  const isOnPurpose = settings.headless && bus === undefined
  const unreachable = isOnPurpose ? undefined : linkBase().warning
  return {
    ready: {
      gateway: loopbackUrl(bound),
      control,
      listening: [...bound, ...(tls?.bound ?? [])].map(formatBaseUrl),
      mode: desktop.mode,
      clipboard: desktop.clipboard(),
      pid: process.pid,
    },
    warnings: [missing, unreachable, warnOfShortMemory()].filter((text) => text !== undefined),
    admin,
    stopAsked,
    stop: async () => {
      endsAt = station.clock.monotonic() + settings.grace
      await cleanup.run()
      return { cut: cut() }
    },
  }
}

/** The parts of pages for phones that only the daemon knows. */
interface ForPhones {
  readonly id: string
  readonly recent: RememberedItems
  readonly trust: NonNullable<GatewayOptions['trust']>
  readonly https: () => SecureWay | undefined
}

async function startGateway(
  { settings, station, desktop, cleanup }: Parts,
  listeners: Listeners,
  { id, recent, trust, https }: ForPhones,
): Promise<Pick<Running, 'gateway' | 'bound'> & { readonly cut: () => number }> {
  const computer = {
    id,
    // macOS puts `.local` behind the name that people know, and networks a domain.
    name: hostname().split('.')[0] ?? '',
    recent,
    showsRecent: settings.phoneRecent === 'on',
    https,
    isPaused: () => desktop.paused() !== undefined,
    onChange: desktop.onChange,
  }
  const gateway = createGateway(
    { ...station, computer, received: () => placeOf(desktop) },
    {
      version: readVersion(),
      publicUrl: settings.publicUrl,
      trustedProxies: settings.trustedProxies,
      phonePage: settings.phonePage === 'on',
      welcome: settings.phonePage === 'on' ? welcome : undefined,
      trust,
      maxFileBytes: settings.maxFileBytes,
      maxMetadataBytes: settings.maxMetadataBytes,
      heartbeatMs: settings.heartbeat,
      isDraining: () => listeners.isDraining,
    },
  )
  let cut = 0
  cleanup.add(async () => {
    const stopped = listeners.stop(settings.grace)
    // Nobody opens a stream from here on, and nobody waits for those that are open.
    gateway.closeStreams()
    cut = await stopped
  })
  const wanted = settings.listen ?? defaultListen(desktop.mode)
  const bound = await listeners.startGateway(gateway, wanted, settings)
  return { gateway, bound, cut: () => cut }
}

function createAdmin(running: Running, linkBase: () => LinkBase): Admin {
  const { settings, station, desktop, listeners, gateway, tls, peers, bus } = running
  const startedAt = new Date(station.clock.now()).toISOString()
  return createDeviceAdmin({
    devices: station.devices,
    status: () =>
      readStatus(
        station,
        {
          running: true,
          pid: process.pid,
          startedAt,
          mode: desktop.mode,
          clipboard: desktop.clipboard(),
          clipboardError: desktop.trouble(),
          receivedError: desktop.unsaved(),
          paused: desktop.paused(),
          settings: toldSettings(settings),
          listeners: listeners.status(),
          tls: tls?.status(),
          transfers: describeTransfers(station),
          peers: peers.list(),
          bus: bus?.status,
        },
        linkBase().url,
      ),
    linkBase,
    hasPhonePage: settings.phonePage === 'on',
    countStreams: (deviceId) => gateway.countStreams(deviceId),
    refusalsOf: (deviceId) => station.refusedLogins.of(deviceId),
    peers,
    close: async () => undefined,
  })
}

/** Starts the listener of the owner. @returns Its base URL. */
async function startControl(running: Running, admin: Admin): Promise<string> {
  const { settings, station, recent, listeners, cleanup } = running
  const { clock, logger, directory } = station
  const openingFile = new OpeningFile(directory.path, station)
  cleanup.add(() => openingFile.remove())
  const [token] = await Promise.all([
    createControlToken(directory.path).catch((error: unknown) => {
      throw toUnusable(join(directory.path, CONTROL_TOKEN_FILE), error)
    }),
    openingFile.remove(),
  ])
  const clipboard = createOwnerRoutes(station, {
    maxFileBytes: settings.maxFileBytes,
    maxMetadataBytes: settings.maxMetadataBytes,
    heartbeatMs: settings.heartbeat,
    recent,
  })
  cleanup.add(async () => clipboard.closeStreams())
  const control = createControl({
    admin,
    routes: clipboard.routes,
    pages: clipboard.pages,
    panel: createPanel(running),
    token,
    diskTrouble: () => station.storage.diskTrouble(),
    clock,
    logger,
    onAddressGiven: () => openingFile.removeLater(),
  })
  cleanup.add(() => control.closeStreams())
  return listeners.startControl(control.listener, settings.control)
}

/** Makes what only a running daemon can be asked. */
function createPanel(running: Running): Panel {
  const { settings, station, happenings, desktop, recent, gateway, bound, listeners } = running
  const { peers, bus, tls } = running
  const { latest, changes, devices, storage } = station
  return {
    get item() {
      return latest.current
    },
    recent,
    happenings,
    transfers: station.transfers,
    receivedDir: desktop.receivedDir,
    openReceived: () => openPath(settings.receivedDir),
    addresses: () => [
      ...listAddresses(bound, readInterfaces(), settings.publicUrl),
      ...(tls?.addresses() ?? []),
    ],
    pause: desktop.pause,
    resume: desktop.resume,
    stop: running.askToStop,
    onChange: (listener) => {
      const subscriptions = [
        changes.subscribe(() => listener()),
        recent.onChange(listener),
        happenings.onChange(listener),
        station.transfers.onChange(listener),
        devices.onChange(listener),
        station.refusedLogins.onChange(listener),
        storage.staging.onChange(listener),
        gateway.onStreams(listener),
        listeners.onChange(listener),
        peers.onChange(listener),
        desktop.onChange(listener),
        bus?.onChange(listener),
        tls?.onChange(listener),
      ]
      return () => {
        for (const unsubscribe of subscriptions) unsubscribe?.()
      }
    },
  }
}
