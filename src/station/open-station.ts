/** Opens all that a gateway serves from a data directory; see docs/embedding.md. @module */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { RememberingVerifier } from '../devices/credential-verifier.ts'
import { JsonDeviceRegistry } from '../devices/json-device-registry.ts'
import { PasswordHasher } from '../devices/password-hasher.ts'
import { RefusedLogins } from '../devices/refused-logins.ts'
import type { GatewayPorts } from '../gateway/gateway-ports.ts'
import { RunningTransfers } from '../gateway/running-transfers.ts'
import { ChangeHub } from '../inbound/change-hub.ts'
import { ClipboardPipeline } from '../inbound/clipboard-pipeline.ts'
import type { Member } from '../inbound/stamp-order.ts'
import { AsyncCleanup } from '../lib/async-cleanup.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { CircleClock, MEMBER_FILE } from '../inbound/circle-clock.ts'
import type { BlobStore } from '../ports/blob.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { Logger } from '../ports/logger.ts'
import type { PeerStore } from '../ports/peers.ts'
import { openDataDirectory, type DataDirectory } from '../storage/home/data-directory.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'
import { JsonPeerStore, PEERS_FILE } from '../storage/json-peer-store.ts'
import { openStorage, type Storage, type StorageLimits } from '../storage/open-storage.ts'
import { createStreamLogger, guardLogger } from './stream-logger.ts'

/** Callbacks for changes that a person may want to know of. None of them throws. */
export interface StationWatch {
  /** An upload found no room on the disk, or there is room for it again. */
  readonly onDiskFull?: ((isFull: boolean) => void) | undefined
  /** A device has logged in that never did before. */
  readonly onFirstSighting?: ((device: Device) => void) | undefined
}

/** Which data directory to open, and how. Sizes are bytes. */
export interface OpenStationOptions extends StationWatch {
  /** Created when needed; held by one program at a time. */
  readonly dataDir: string
  readonly limits?: Partial<StorageLimits> | undefined
  readonly maxMetadataBytes?: number | undefined
  readonly verifyWorkers?: number | undefined
  readonly verifyQueue?: number | undefined
  readonly clock?: Clock | undefined
  /**
   * The devices that have a say in what becomes current, where the gateway asks another registry
   * than that of the data directory.
   */
  readonly devices?:
    | Pick<DeviceRegistry, 'find' | 'isValid' | 'list' | 'onCredentialGone'>
    | undefined
  /** This program is no daemon, and ends right after its change. */
  readonly isBrief?: boolean | undefined
  /** By default warnings and errors go to stderr. */
  readonly logger?: Logger | undefined
}

/** Everything that one data directory holds, opened, as ports. */
export interface Station extends GatewayPorts {
  readonly directory: DataDirectory
  readonly blobs: BlobStore
  readonly storage: Storage
  readonly devices: JsonDeviceRegistry
  readonly inbound: ClipboardPipeline
  readonly member: Member
  readonly refusedLogins: RefusedLogins
  readonly transfers: RunningTransfers
  readonly circleTime: CircleClock
  readonly peerStore: PeerStore
  /**
   * Refuses what is under way and comes later, writes what is pending, ends workers and timers, and
   * gives the directory back: nothing is written there any more.
   */
  close(): Promise<void>
}

/**
 * Opens a data directory.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY`, `DATA_DIRECTORY_UNUSABLE`, `DATA_CORRUPT`.
 */
export async function openStation(options: OpenStationOptions): Promise<Station> {
  const { clock = systemClock } = options
  const logger = guardLogger(options.logger ?? createStreamLogger(process.stderr, 'warn'))
  const cleanup = new AsyncCleanup()
  let isClosed = false
  try {
    const { dataDir, onFirstSighting, isBrief } = options
    const directory = await openDataDirectory({ path: dataDir })
    cleanup.add(async () => {
      try {
        await directory.close()
      } catch (error) {
        // A disk that has gone bad or read-only: what was served is served, and the lock is stale.
        const what = 'Cannot remove the lock, which the next start sees is stale'
        logger.warn(what, { ...describeFailure(error) })
      }
    })

    const { verifyWorkers: workers, verifyQueue: queue } = options
    const hasher = new PasswordHasher({ clock, logger, workers, queue })
    cleanup.add(() => hasher.close())
    const path = join(directory.path, 'devices.json')
    const watched = { hasher, clock, logger, onFirstSighting, isBrief }
    const registry = await JsonDeviceRegistry.open({ path, ...watched })
    cleanup.add(() => registry.close())
    const { devices = registry } = options

    const refusedLogins = new RefusedLogins({ devices, clock, logger })
    cleanup.add(() => refusedLogins.close())

    const { limits = {}, onDiskFull } = options
    const storage = await openStorage({
      ...{ directory, clock, logger, limits, onDiskFull, devices },
    })
    cleanup.add(() => storage.close())

    const { blobs, staging, latest } = storage
    const changes = new ChangeHub(logger)
    const maxTextBytes = options.maxMetadataBytes
    const peerStore = await JsonPeerStore.open(join(directory.path, PEERS_FILE))
    const file = new DiskPrivateFile(join(directory.path, MEMBER_FILE))
    const circleTime = await CircleClock.open({ file, clock, logger })
    cleanup.add(() => circleTime.close())
    const member = createMember(circleTime)
    const shared = { staging, latest, changes, clock, logger, member }
    const { hashText } = storage
    const inbound = new ClipboardPipeline({
      ...{ ...shared, blobs, maxTextBytes, hashText, devices },
    })
    // Another station may open the directory then, of what was written to the end.
    cleanup.add(() => inbound.close())
    // Shutting a device out is done once nothing that it sent can change anything.
    devices.onCredentialGone((deviceId) => staging.drop(deviceId))
    devices.onCredentialGone((deviceId) => inbound.shutOut(deviceId))
    const verifier = new RememberingVerifier({ registry, hasher })
    const own = { directory, blobs, storage, circleTime, peerStore, inbound, verifier }
    return {
      ...shared,
      ...own,
      devices: registry,
      refusedLogins,
      transfers: new RunningTransfers(),
      onLoginRefused: (username, address) => refusedLogins.note(username, address),
      isClosed: () => isClosed,
      close: () => {
        isClosed = true
        return cleanup.run()
      },
    }
  } catch (error) {
    await cleanup.run()
    throw error
  }
}

/** Makes an identity that is new at each start: it tells apart what happened in one millisecond. */
function createMember(time: CircleTime): Member {
  return {
    id: `m_${randomBytes(8).toString('hex')}`,
    now: () => time.now(),
    learn: (at) => time.learn(at),
    believes: (at) => time.believes(at),
  }
}
