/**
 * Finds what was staged before a restart, and removes the records of what is not there any more.
 *
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type { DiskBlobStore } from './disk-blob-store.ts'
import type { FoundRecord, StagedFiles } from './staged-files.ts'
import { credentialOf, type StagingRecord } from './staging-record.ts'
import type { WaitingUpload } from './waiting-uploads.ts'

export interface RestoreOptions {
  readonly blobs: Pick<DiskBlobStore, 'restore'>
  readonly clock: Clock
  readonly ttlMs: number
  /** The blob of this name belongs to the item: its record is a left-over. */
  readonly takenBlob: string | undefined
  /** Whose uploads count. Without it everybody's do. */
  readonly devices?: Pick<DeviceRegistry, 'find' | 'list'> | undefined
}

export interface RestoredUploads {
  /** In the order in which they were staged; some may have waited for too long. */
  readonly uploads: readonly WaitingUpload[]
  /** Names of blobs whose records cannot be read; both are left as they are. */
  readonly unreadable: readonly string[]
}

/** @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
export async function restoreStaged(
  files: StagedFiles,
  options: RestoreOptions,
): Promise<RestoredUploads> {
  const { takenBlob, devices } = options
  const { records, unreadable } = await files.load()
  const uploads: WaitingUpload[] = []
  for (const found of records.toSorted((a, b) => a.record.sequence - b.record.sequence)) {
    const isLeftOver = found.name === takenBlob || !counts(found.record, devices)
    const upload = isLeftOver ? undefined : await restore(found, options)
    // Its bytes were lost in a power cut, or became the item just before a crash; or its device was
    // shut out just before one.
    if (upload === undefined) await files.remove(found.name)
    else uploads.push(upload)
  }
  return { uploads, unreadable }
}

/**
 * Whether the device still is paired, with the password that it had. Where there is no device at
 * all, somebody has put the file of devices aside, and may bring it back.
 */
function counts(
  { deviceId, credential }: StagingRecord,
  devices: RestoreOptions['devices'],
): boolean {
  if (devices === undefined || devices.list().length === 0) return true
  const device = devices.find(deviceId)
  if (device === undefined) return false
  return credential === undefined || credential === credentialOf(device.passwordHash)
}

async function restore(
  { name, record, mayBeTorn }: FoundRecord,
  { blobs, clock, ttlMs }: RestoreOptions,
): Promise<WaitingUpload | undefined> {
  const { size, sha256, blake3, stagedAt, credential: _c, bootId: _b, ...header } = record
  const blob = await blobs.restore(name, { size, digests: { sha256, blake3 }, mayBeTorn })
  if (blob === undefined) return undefined
  // A clock that was set back must not make anything younger than new.
  const age = Math.max(0, clock.now() - stagedAt)
  return { ...header, blob, name, expiresAt: clock.monotonic() + ttlMs - age }
}
