/** Finds the uploads that were there before a restart. @module */

import { OWNER_ID } from '../../core/owner.ts'
import type { DeviceRegistry } from '../../ports/device-registry.ts'
import type { DiskBlobStore } from '../blobs/disk-blob-store.ts'
import {
  credentialOf,
  type FoundRecord,
  type PartialRecord,
  type StagingRecord,
} from './upload-records.ts'
import { Upload, type UploadDeps } from './upload.ts'

/** Where uploads are looked for, and which of them count. */
export interface LoadOptions {
  readonly blobs: Pick<DiskBlobStore, 'restore' | 'resume'>
  /** Names of the blobs that belong to the item: their records are left-overs. */
  readonly takenBlobs: ReadonlySet<string>
  /** The devices whose uploads count. Without it everybody's do. */
  readonly devices?: Pick<DeviceRegistry, 'find' | 'list'> | undefined
  readonly deps: UploadDeps
}

interface LoadedUploads {
  /** Those that wait, in the order in which they came, and then those of which more may come. */
  readonly uploads: readonly Upload[]
  /** Names of blobs whose records cannot be read; both are left as they are. */
  readonly unreadable: readonly string[]
}

/** Loads all uploads, and removes the records of those that are lost or do not count. */
export async function loadUploads(options: LoadOptions): Promise<LoadedUploads> {
  const { takenBlobs, deps } = options
  const { staged, partial } = deps.records
  const [waiting, begun] = [await staged.load(), await partial.load()]
  const uploads: Upload[] = []
  // A crash may come between the record of a staged upload and the removal of the other one.
  const names = new Set([...takenBlobs, ...waiting.unreadable])
  for (const found of waiting.records) {
    const upload = counts(found, options) ? await restore(found, options) : undefined
    if (upload === undefined) {
      await staged.remove(found.name)
      continue
    }
    names.add(found.name)
    uploads.push(upload)
  }
  for (const found of begun.records) {
    const upload = names.has(found.name) ? undefined : await resume(found, options)
    if (upload === undefined) await partial.remove(found.name)
    else uploads.push(upload)
  }
  return { uploads, unreadable: [...waiting.unreadable, ...begun.unreadable] }
}

/**
 * Whether an upload that waited still counts: its bytes did not become the item just before a
 * crash, and its device is paired, with the password that it had. Where there is no device at all,
 * somebody has put the file of devices aside, and may bring it back.
 */
function counts(
  { name, record: { deviceId, credential } }: FoundRecord<StagingRecord>,
  { takenBlobs, devices }: LoadOptions,
): boolean {
  if (takenBlobs.has(name)) return false
  // The owner is no device, and has no password that could be another one.
  if (deviceId === OWNER_ID) return true
  if (devices === undefined || devices.list().length === 0) return true
  const device = devices.find(deviceId)
  if (device === undefined) return false
  return credential === undefined || credential === credentialOf(device.passwordHash)
}

/** An upload that waits; `undefined` when its bytes were lost in a power cut. */
async function restore(
  { name, record, mayBeTorn }: FoundRecord<StagingRecord>,
  { blobs, deps }: LoadOptions,
): Promise<Upload | undefined> {
  const { deviceId, dataName, mediaType, member, knownAs, sequence, isResumable } = record
  const { size, sha256, blake3, stagedAt } = record
  const blob = await blobs.restore(name, { size, digests: { sha256, blake3 }, mayBeTorn })
  if (blob === undefined) return undefined
  const kind = { token: name, sequence, isResumable }
  const upload = new Upload(deps, { deviceId, declaredSize: size }, kind)
  // A clock that was set back must not make anything younger than new.
  upload.expiresAt -= Math.max(0, deps.clock.now() - stagedAt)
  upload.restore({ deviceId, dataName, mediaType, member, knownAs, blob })
  return upload
}

/** An upload of which more may come, if its device and all of its bytes can be trusted. */
async function resume(
  { name, record, mayBeTorn }: FoundRecord<PartialRecord>,
  { blobs, devices, deps }: LoadOptions,
): Promise<Upload | undefined> {
  const { deviceId, credential, dataName, contentType, length, sha256, member } = record
  const { sequence, synced } = record
  const device = devices?.find(deviceId)
  if (devices !== undefined && credentialOf(device?.passwordHash) !== credential) return undefined
  const file = await blobs.resume(name)
  // A power cut may have left holes.
  if (file === undefined || (mayBeTorn && file.size !== synced)) return undefined
  const { passwordHash } = device ?? {}
  const sender = { deviceId, passwordHash, declaredSize: length }
  const source = { ...sender, dataName, contentType, sha256, member }
  const upload = new Upload(deps, source, { token: name, sequence, isResumable: true })
  await upload.resume(file, !mayBeTorn && synced === undefined)
  return upload
}
