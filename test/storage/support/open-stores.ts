/** Parts of the storage on a folder of its own, for as long as a test runs. @module */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { FileHasher } from '../../../src/hashing/file-hasher.ts'
import { openDataDirectory, type DataDirectory } from '../../../src/storage/home/data-directory.ts'
import { DiskBlobStore } from '../../../src/storage/blobs/disk-blob-store.ts'
import { DiskSpace } from '../../../src/storage/home/disk-space.ts'
import {
  openStorage,
  type Storage,
  type StorageLimits,
  type StorageOptions,
} from '../../../src/storage/open-storage.ts'
import { readBlob, streamOf } from '../../support/byte-streams.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { fileItem } from '../../support/latest-item-contract.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export interface OpenedStore {
  readonly store: DiskBlobStore
  readonly folder: string
  readonly logger: CaptureLogger
  /** Measures how long the worker of the hasher waits. */
  readonly clock: FakeClock
  readonly hasher: FileHasher
  count(): Promise<number>
}

/** A blob store alone. */
export async function openBlobStore(
  t: TestContext,
  clock = new FakeClock(),
  hasher = new FileHasher({ clock }),
): Promise<OpenedStore> {
  const folder = await temporaryFolder(t)
  const logger = new CaptureLogger()
  t.after(() => hasher.close())
  const space = new DiskSpace(folder, 0)
  const store = new DiskBlobStore({ folder, space, clock, hasher, logger, maxGroupBytes: Infinity })
  return { store, folder, logger, clock, hasher, count: async () => (await readdir(folder)).length }
}

export interface OpenedStorage extends Storage {
  readonly directory: DataDirectory
  readonly folder: string
  readonly clock: FakeClock
  readonly logger: CaptureLogger
  /** Names of the blobs on disk. */
  blobFiles(): Promise<readonly string[]>
  /** Names of the files in the folder of the records. */
  stagingFiles(): Promise<readonly string[]>
  /** Ends it, and opens it again on the same folder. */
  restart(between?: () => Promise<void>): Promise<OpenedStorage>
}

export interface OpenTestStorageOptions {
  readonly folder?: string
  readonly clock?: FakeClock
  readonly limits?: Partial<StorageLimits>
  /** Asked again at each start. */
  readonly devices?: StorageOptions['devices']
}

/** The whole storage. */
export async function openTestStorage(
  t: TestContext,
  options: OpenTestStorageOptions = {},
): Promise<OpenedStorage> {
  const folder = options.folder ?? (await temporaryFolder(t))
  const clock = options.clock ?? new FakeClock()
  const logger = new CaptureLogger()
  const directory = await openDataDirectory({ path: folder })
  // Whatever goes wrong, the folder is free for the next one.
  t.after(() => directory.close())
  const limits = { minFreeBytes: 0, ...options.limits }
  const { devices } = options
  const storage = await openStorage({ directory, clock, logger, limits, devices })
  const close = async (): Promise<void> => {
    await storage.close()
    await directory.close()
  }
  t.after(close)
  return {
    ...storage,
    directory,
    folder,
    clock,
    logger,
    close,
    blobFiles: () => readdir(join(folder, 'blobs')),
    stagingFiles: () => readdir(join(folder, 'staging')),
    restart: async (between = async () => undefined) => {
      await close()
      await between()
      return openTestStorage(t, { ...options, folder, clock })
    },
  }
}

/** Makes a file of these bytes, named a.txt, the item. */
export async function putFile({ blobs, latest }: Storage, text: string): Promise<void> {
  const blob = await blobs.receive(streamOf(text), { maxBytes: text.length })
  await latest.put(await fileItem('a.txt', blob), blob)
}

/** The bytes of the latest item that has some. */
export async function bytesOf({ latest }: Storage): Promise<Buffer> {
  assert.ok(latest.binary?.blob, 'there is an item with bytes')
  return readBlob(latest.binary.blob)
}

/** The path of the only file in `blobs/`. */
export async function pathOfBlob({ folder, blobFiles }: OpenedStorage): Promise<string> {
  const [name = ''] = await blobFiles()
  return join(folder, 'blobs', name)
}
