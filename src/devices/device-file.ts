/**
 * `devices.json`. Takes what this version writes, and refuses everything else with a remedy and
 * leaves it as it is: a file that is read half would be written half.
 *
 * `sightings.json` has when each device was seen since. It changes all day and no disk is waited
 * for, so a power cut may tear it; then the sightings that the other file has count.
 * @module
 */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DomainError } from '../core/domain-error.ts'
import { MIB } from '../core/limits.ts'
import { defineJsonFile, NewerVersionError, PRIVATE_FILE_MODE } from '../lib/atomic-file.ts'
import {
  arrayOf,
  decodeBoolean,
  decodeNumber,
  type Decoder,
  decodeString,
  matching,
  objectOf,
  oneOf,
} from '../lib/decoder.ts'
import { codeOf } from '../lib/system-error.ts'
import type { Device } from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import { isLabel, isUsername } from './credential-rules.ts'
import { parsePhcString } from './phc-string.ts'

const VERSION = 1
const DEVICE_ID = /^did_[0-9a-f]{32}$/

/** A hundred thousand devices take 40 MB. */
const MAX_FILE_BYTES = 64 * MIB

/** Later times are no dates to JavaScript. */
const LATEST_DATE_MS = 8.64e15

const GROUP_AND_OTHERS = 0o077

const RESTORE = 'restore it from a copy, or move it away and pair all devices again'

const decodeTime = matching(
  decodeNumber,
  (value) => Number.isSafeInteger(value) && value >= 0 && value <= LATEST_DATE_MS,
  'a time in milliseconds',
)

const decodeId = matching(decodeString, (id) => DEVICE_ID.test(id), 'a device id')

const SIGHTING = {
  lastSeenAt: orAbsent(decodeTime),
  lastSeenAddress: orAbsent(decodeString),
  lastClient: orAbsent(decodeString),
  dialect: orAbsent(oneOf(['sync', 'syncclipboard'])),
  reads: orAbsent(oneOf(['sync', 'syncclipboard'])),
  usesOldKeys: orAbsent(decodeBoolean),
  isExact: orAbsent(decodeBoolean),
} as const

const decodeDevice: Decoder<Device> = objectOf({
  id: decodeId,
  kind: oneOf(['phone', 'peer']),
  label: matching(decodeString, isLabel, 'a label'),
  username: matching(decodeString, isUsername, 'a user name'),
  passwordHash: orAbsent(matching(decodeString, isPasswordHash, 'a hash of Argon2id')),
  createdAt: decodeTime,
  ...SIGHTING,
  linkUrl: orAbsent(decodeString),
})

const FILE = defineJsonFile({
  version: VERSION,
  decode: objectOf({ devices: arrayOf(decodeDevice) }),
})

const decodeSightings = objectOf({ sightings: arrayOf(objectOf({ id: decodeId, ...SIGHTING })) })

const SIGHTINGS_FILE = defineJsonFile({ version: VERSION, decode: decodeSightings })

/** Formats the file. */
export function formatDeviceFile(devices: readonly Device[]): string {
  return `${JSON.stringify({ version: VERSION, devices }, undefined, 2)}\n`
}

/**
 * Parses the file.
 *
 * @throws {TypeError} saying what is wrong. It never quotes the file, which holds password hashes.
 */
export function parseDeviceFile(text: string | Uint8Array): readonly Device[] {
  const { devices } = FILE.parse(text)
  for (const key of ['id', 'username'] as const) {
    const seen = new Set(devices.map((device) => device[key]))
    if (seen.size < devices.length) throw new TypeError(`two devices have one "${key}"`)
  }
  return devices
}

/** Where sightings are, beside the devices file. */
export function sightingsPath(path: string): string {
  return join(dirname(path), 'sightings.json')
}

/**
 * Reads the devices in the file, as they were seen last; none when there is no file. Takes the file
 * away from everybody but its owner when it is open to more.
 *
 * @throws {DomainError} `DATA_CORRUPT`; `DATA_DIRECTORY_UNUSABLE` when it cannot be read or belongs
 *   to somebody else.
 */
export async function readDeviceFile(path: string, logger: Logger): Promise<readonly Device[]> {
  try {
    const bytes = await readPrivateFile(path, logger)
    if (bytes === undefined) return []
    return await readSightings(sightingsPath(path), parseDeviceFile(bytes), logger)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const remedy = error instanceof NewerVersionError ? 'run that version' : RESTORE
    throw new DomainError('DATA_CORRUPT', `Cannot read ${path}: ${error.message}; ${remedy}`)
  }
}

/** Formats `sightings.json`: nothing of who may log in, which has to be durable. */
export function formatSightings(devices: readonly Device[]): string {
  return SIGHTINGS_FILE.format(decodeSightings({ sightings: devices }))
}

/** The devices as they were seen last. What cannot be read is warned of, and left out. */
async function readSightings(
  path: string,
  devices: readonly Device[],
  logger: Logger,
): Promise<readonly Device[]> {
  try {
    const bytes = await readPrivateFile(path, logger)
    if (bytes === undefined) return devices
    const byId = new Map(SIGHTINGS_FILE.parse(bytes).sightings.map((seen) => [seen.id, seen]))
    return devices.map((device) => {
      const seen = byId.get(device.id)
      // A change has saved the sightings until then along with the device.
      const isLater = (seen?.lastSeenAt ?? 0) > (device.lastSeenAt ?? 0)
      return isLater ? { ...device, ...seen } : device
    })
  } catch (error) {
    logger.warn('Cannot read when devices were seen last', { path, reason: String(error) })
    return devices
  }
}

async function readPrivateFile(path: string, logger: Logger): Promise<Buffer | undefined> {
  const file = await openFile(path)
  if (file === undefined) return undefined
  try {
    await takeOwnership(file, path, logger)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    // Not blocking, since it could be a pipe that nobody ever writes to.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT') return undefined
    const reason = code === 'ELOOP' ? 'it is a symbolic link' : `the system says ${code}`
    throw unusable(path, `${reason}; make it a file that this user can read`, cause)
  }
}

async function takeOwnership(file: FileHandle, path: string, logger: Logger): Promise<void> {
  const stats = await file.stat()
  if (!stats.isFile()) throw unusable(path, 'it is not a file; move it away')
  if (stats.size > MAX_FILE_BYTES) throw new TypeError('it is too large to be ours')
  // Windows has neither; its profile folders are private.
  const user = process.getuid?.()
  if (user === undefined) return
  if (stats.uid !== user) {
    throw unusable(path, 'it belongs to another user; run as that user, or change its owner')
  }
  if ((stats.mode & GROUP_AND_OTHERS) === 0) return
  await file.chmod(PRIVATE_FILE_MODE)
  logger.warn('Other users could read the devices file; not any more', { path })
}

function unusable(path: string, reason: string, cause?: unknown): DomainError {
  return new DomainError('DATA_DIRECTORY_UNUSABLE', `Cannot read ${path}: ${reason}`, { cause })
}

function isPasswordHash(text: string): boolean {
  return parsePhcString(text) !== undefined
}

/** Decodes a member that may be absent. `null` is not what this version writes. */
function orAbsent<Value>(decode: Decoder<Value>): Decoder<Value | undefined> {
  return (value, path) => (value === undefined ? undefined : decode(value, path))
}
