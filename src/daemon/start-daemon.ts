/**
 * The composition root: one data directory, two listeners, and perhaps a desktop.
 *
 * @module
 */

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createControl } from '../control/create-control.ts'
import { CONTROL_TOKEN_FILE, createControlToken } from '../control/control-token.ts'
import { createDeviceAdmin } from '../control/device-admin.ts'
import { DomainError } from '../core/domain-error.ts'
import type { Notifier } from '../desktop/notifications/notifier.ts'
import { createGateway } from '../gateway/create-gateway.ts'
import { AsyncCleanup } from '../lib/async-cleanup.ts'
import { PeerLinks } from '../peers/peer-links.ts'
import type { Admin } from '../ports/admin.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { readLockHolder } from '../storage/lock.ts'
import { toUnusable } from '../storage/own-files.ts'
import { chooseBaseUrl, listAddresses, loopbackUrl } from './addresses.ts'
import { createPanel } from './create-panel.ts'
import { Listeners } from './listeners.ts'
import { openBus } from './open-bus.ts'
import { openConfigured, type Clipboard } from './open-clipboard.ts'
import { openDesktop, type Desktop } from './open-desktop.ts'
import { OpeningFile } from './opening-file.ts'
import { readInterfaces } from './read-interfaces.ts'
import { readStatus } from './read-status.ts'
import { defaultListen, type Settings } from './settings.ts'
import { createStreamLogger } from './stream-logger.ts'
import { readVersion } from './version.ts'

/** A command hashes a password at most; another daemon has its listeners long before. */
const PATIENCE_MS = 5000
const RETRY_MS = 50

/** Said once both listeners accept. */
export interface Ready {
  /** Base URL of the gateway on this machine, with the port really bound. */
  readonly gateway: string
  readonly control: string
  readonly mode: Desktop['mode']
  readonly clipboard: Desktop['clipboard']
  readonly pid: number
}

/** A running daemon. */
export interface Daemon {
  readonly ready: Ready
  /** What the owner should know although the start succeeded; one line each. */
  readonly warnings: readonly string[]
  readonly admin: Admin
  /** Refuses new requests, lets uploads finish within the grace period, and closes everything. */
  stop(): Promise<void>
}

export interface StartDaemonOptions {
  /** By default stderr, at the level of the settings. */
  readonly logger?: Logger
  /** For tests. */
  readonly clock?: Clock
}

/**
 * Starts a daemon.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY`, `DATA_DIRECTORY_UNUSABLE`, `DATA_CORRUPT`.
 * @throws {Error} when a listener cannot be bound, naming its address. Nothing is left behind.
 */
export async function startDaemon(
  settings: Settings,
  options: StartDaemonOptions = {},
): Promise<Daemon> {
  const { clock = systemClock } = options
  const logger = options.logger ?? createStreamLogger(process.stderr, settings.logLevel)
  const cleanup = new AsyncCleanup()
  try {
    const notifier = settings.notify ? await openNotifier({ clock, logger }) : undefined
    cleanup.add(async () => notifier?.close())
    const clipboard = await openWhenFree(settings, logger, {
      clock,
      onDiskFull: (isFull) => notifier?.report('disk', isFull),
      onFirstSighting: ({ label }) => notifier?.greet(label),
    })
    cleanup.add(() => clipboard.close())
    const desktop = await openDesktop(clipboard, settings, (isTrouble) => {
      notifier?.report('clipboard', isTrouble)
    })
    cleanup.add(() => desktop.close())
    // It was wanted, and will be missing for as long as this daemon runs.
    if (desktop.warning !== undefined) notifier?.report('clipboard', true)
    return await listen({ settings, clipboard, desktop, notifier, cleanup })
  } catch (error) {
    await cleanup.run()
    throw error
  }
}

/**
 * Opens the data directory, which commands hold for a moment. A daemon holds it for good, and says
 * where its control listener is: there is no use in waiting for that.
 */
async function openWhenFree(
  settings: Settings,
  logger: Logger,
  more: Parameters<typeof openConfigured>[2],
): Promise<Clipboard> {
  const patience = uptimeMs() + PATIENCE_MS
  for (;;) {
    try {
      return await openConfigured(settings, logger, more)
    } catch (error) {
      const isBusy = error instanceof DomainError && error.code === 'DATA_DIRECTORY_BUSY'
      if (!isBusy || uptimeMs() > patience) throw error
      const holder = await readLockHolder(settings.dataDir)
      if (holder?.control !== undefined) throw error
      await delay(RETRY_MS)
    }
  }
}

/** `performance` is a module of Node that nothing else at a start needs. */
function uptimeMs(): number {
  return process.uptime() * 1000
}

/** Nobody else needs to load it. */
async function openNotifier(deps: Pick<Clipboard, 'clock' | 'logger'>): Promise<Notifier> {
  const { createNotifier } = await import('../desktop/notifications/notifier.ts')
  return createNotifier(deps)
}

interface Parts {
  readonly settings: Settings
  readonly clipboard: Clipboard
  readonly desktop: Desktop
  readonly notifier: Notifier | undefined
  readonly cleanup: AsyncCleanup
}

async function listen({ settings, clipboard, desktop, notifier, cleanup }: Parts): Promise<Daemon> {
  const { logger, directory } = clipboard
  const startedAt = new Date(clipboard.clock.now()).toISOString()
  const listeners = new Listeners(logger, {
    onTrouble: (name, isTrouble) => notifier?.report(name, isTrouble),
  })
  const gateway = createGateway(clipboard, {
    version: readVersion(),
    publicUrl: settings.publicUrl,
    trustedProxies: settings.trustedProxies,
    maxFileBytes: settings.maxFileBytes,
    maxMetadataBytes: settings.maxMetadataBytes,
    heartbeatMs: settings.heartbeat,
    isDraining: () => listeners.isDraining,
  })
  cleanup.add(async () => {
    const stopped = listeners.stop(settings.grace)
    // Nobody opens one from here on, and nobody waits for those that are.
    gateway.closeStreams()
    await stopped
  })
  const bound = await listeners.startGateway(
    gateway,
    settings.listen ?? defaultListen(desktop.mode),
    settings,
  )
  const linkBase = () => chooseBaseUrl(bound, readInterfaces(), settings.publicUrl)

  const peers = new PeerLinks({
    ...clipboard,
    store: clipboard.peerStore,
    memberId: clipboard.member.id,
    maxFileBytes: settings.maxFileBytes,
  })
  cleanup.add(() => peers.close())
  peers.start()

  const bus = await openBus(settings, clipboard, () => linkBase().url)
  cleanup.add(() => bus?.close())

  const admin = createDeviceAdmin({
    devices: clipboard.devices,
    status: () =>
      readStatus(clipboard, {
        running: true,
        pid: process.pid,
        startedAt,
        mode: desktop.mode,
        clipboard: desktop.clipboard,
        clipboardError: desktop.trouble(),
        paused: desktop.paused(),
        listeners: listeners.status(),
        peers: peers.list(),
        bus: bus?.status(),
      }),
    linkBase,
    countStreams: (deviceId) => gateway.countStreams(deviceId),
    peers,
    close: async () => undefined,
  })
  const token = await createControlToken(directory.path).catch((error: unknown) => {
    throw toUnusable(join(directory.path, CONTROL_TOKEN_FILE), error)
  })
  const panel = createPanel({
    clipboard,
    desktop,
    gateway,
    listeners,
    peers,
    bus,
    addresses: () => listAddresses(bound, readInterfaces(), settings.publicUrl),
  })
  const openingFile = new OpeningFile(directory.path, clipboard)
  cleanup.add(() => openingFile.remove())
  await openingFile.remove()
  const owner = createControl({
    admin,
    panel,
    token,
    clock: clipboard.clock,
    logger,
    onAddressGiven: () => openingFile.removeLater(),
  })
  cleanup.add(() => owner.closeStreams())
  const control = await listeners.startControl(owner.listener, settings.control)
  await directory.announce({ control })

  // A node behind a proxy listens on loopback on purpose; `pair` tells of the address all the same.
  const isOnPurpose = settings.headless && bus === undefined
  const unreachable = isOnPurpose ? undefined : linkBase().warning
  const warnings = [desktop.warning, unreachable].filter((text) => text !== undefined)
  return {
    ready: {
      gateway: loopbackUrl(bound),
      control,
      mode: desktop.mode,
      clipboard: desktop.clipboard,
      pid: process.pid,
    },
    warnings,
    admin,
    stop: () => cleanup.run(),
  }
}
