/** Everything that keeps bytes: it shares the data directory and the disk. @module */

import { join } from 'node:path'
import {
  MAX_BATCHES_PER_DEVICE,
  MAX_FILE_BYTES,
  MAX_STAGED_PER_DEVICE,
  MIN_FREE_BYTES,
  STAGING_QUOTA_BYTES,
  STAGING_TTL_MS,
} from '../core/limits.ts'
import type { Digests } from '../core/content-id.ts'
import { FileHasher } from '../hashing/file-hasher.ts'
import type { BlobStore } from '../ports/blob.ts'
import type { Clock } from '../lib/clock.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type { Expendable, ReserveRoom } from '../ports/disk-room.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { StagingArea } from '../ports/staging-area.ts'
import { BLOBS_FOLDER, STAGING_FOLDER, type DataDirectory } from './home/data-directory.ts'
import { DiskBlobStore } from './blobs/disk-blob-store.ts'
import { DiskLatestItem } from './disk-latest-item.ts'
import { createReserveRoom, DiskProbe, DiskSpace } from './home/disk-space.ts'
import { DiskStagingArea } from './uploads/disk-staging-area.ts'

/** The limits of uploads. */
export interface StorageLimits {
  readonly maxFileBytes: number
  readonly stagingTtlMs: number
  readonly stagingQuotaBytes: number
  readonly maxStagedPerDevice: number
  /** Files that come leave this much of the disk free; 0 switches the check off. */
  readonly minFreeBytes: number
}

/** The parts that the storage works with. */
export interface StorageOptions {
  readonly directory: DataDirectory
  readonly clock: Clock
  readonly logger: Logger
  /** Limits that are absent are those of `core/limits.ts`. */
  readonly limits?: Partial<StorageLimits>
  /** The devices whose uploads count. Without it everybody's do. */
  readonly devices?: Pick<DeviceRegistry, 'find' | 'isValid' | 'list'> | undefined
  /** Called when an upload finds no room on the disk, and when there is room for it again. */
  readonly onDiskFull?: ((isFull: boolean) => void) | undefined
}

const ITEM_FILE = 'item.json'

const DEFAULT_LIMITS: StorageLimits = {
  maxFileBytes: MAX_FILE_BYTES,
  stagingTtlMs: STAGING_TTL_MS,
  stagingQuotaBytes: STAGING_QUOTA_BYTES,
  maxStagedPerDevice: MAX_STAGED_PER_DEVICE,
  minFreeBytes: MIN_FREE_BYTES,
}

/** The opened storage. */
export interface Storage {
  readonly blobs: BlobStore
  readonly staging: StagingArea & Pick<DiskStagingArea, 'stats' | 'onChange'>
  readonly latest: LatestItem
  /** The number of bytes that an unprivileged program may still write. */
  freeBytes(): Promise<number>
  /** Why the disk takes nothing, or no upload; `undefined` when it does. At most 10 s old. */
  diskTrouble(): Promise<string | undefined>
  /** Hashes a text, a long one off this thread. @param utf8 Handed over: nobody else may use it. */
  hashText(
    utf8: Uint8Array<ArrayBuffer>,
  ): Promise<Digests & { readonly bytes: Uint8Array<ArrayBuffer> }>
  /** Sets room aside for a file outside of the data directory. */
  readonly reserve: ReserveRoom
  /** Has something in the data directory give way from now on where there is no room otherwise. */
  yieldFirst(expendable: Expendable): void
  /** Ends timers and workers; what is stored stays. The directory stays open. */
  close(): Promise<void>
}

/** Loads what was stored, and sweeps the rest. @throws {DomainError} `DATA_CORRUPT`. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { directory, clock, logger } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const folder = join(directory.path, BLOBS_FOLDER)
  const openSpace = (path: string): DiskSpace =>
    new DiskSpace(path, limits.minFreeBytes, options.onDiskFull)
  const space = openSpace(folder)
  const probe = new DiskProbe(folder, space, clock)
  const hasher = new FileHasher({
    onTrouble: (reason) => {
      logger.warn('Cannot use blake3-kernel.wasm: uploads take longer', { reason })
    },
  })
  const { maxFileBytes } = limits
  const maxGroupBytes = maxFileBytes
  const blobs = new DiskBlobStore({ folder, space, clock, hasher, logger, maxGroupBytes })
  const latest = await DiskLatestItem.open({ path: join(directory.path, ITEM_FILE), blobs, logger })
  const staging = await DiskStagingArea.open({
    folder: join(directory.path, STAGING_FOLDER),
    blobs,
    space,
    clock,
    logger,
    maxFileBytes,
    ttlMs: limits.stagingTtlMs,
    quotaBytes: limits.stagingQuotaBytes,
    maxPerDevice: limits.maxStagedPerDevice,
    maxBatchesPerDevice: MAX_BATCHES_PER_DEVICE,
    takenBlobs: latest.blobNames,
    latest,
    devices: options.devices,
  })
  await blobs.sweep(new Set([...latest.blobNames, ...staging.blobNames]))
  return {
    blobs,
    staging,
    latest,
    hashText: (utf8) => hasher.digestsOf(utf8),
    freeBytes: () => space.free(),
    diskTrouble: () => probe.trouble(),
    reserve: createReserveRoom(folder, space, openSpace),
    yieldFirst: (expendable) => space.yieldFirst(expendable),
    close: async () => {
      await staging.close()
      await hasher.close()
    },
  }
}
