/**
 * The text of `devices.json`. Takes what this version writes, and refuses everything else: a file
 * that is read half would be written half.
 *
 * @module
 */

import type { Device, DeviceKind, Dialect } from '../ports/device-registry.ts'
import { isLabel, isUsername } from './credential-rules.ts'
import { parsePhcString } from './phc-string.ts'

const VERSION = 1
const DEVICE_ID = /^did_[0-9a-f]{32}$/

/** What is wrong with the text. Never quotes it: it holds password hashes. */
export class DeviceFileError extends Error {
  override readonly name = 'DeviceFileError'
  /** What a person can do about it without losing anything. */
  readonly remedy: string

  constructor(
    message: string,
    remedy = 'restore it from a copy, or move it away and pair all devices again',
  ) {
    super(message)
    this.remedy = remedy
  }
}

export function formatDeviceFile(devices: readonly Device[]): string {
  return `${JSON.stringify({ version: VERSION, devices }, undefined, 2)}\n`
}

/** @throws {DeviceFileError} */
export function parseDeviceFile(text: string): readonly Device[] {
  const { version, devices } = readRecord(parseJson(text), 'the file')
  if (typeof version === 'number' && version > VERSION) {
    throw new DeviceFileError('a newer version of clipgate wrote it', 'run that version')
  }
  if (version !== VERSION) throw new DeviceFileError('"version" must be 1')
  if (!Array.isArray(devices)) throw new DeviceFileError('"devices" must be an array')
  const parsed = devices.map((device: unknown, index) => parseDevice(device, `devices[${index}]`))
  checkUnique(parsed, 'id')
  checkUnique(parsed, 'username')
  return parsed
}

function parseDevice(value: unknown, at: string): Device {
  const record = readRecord(value, at)
  return {
    id: readText(record, at, 'id', (id) => DEVICE_ID.test(id)),
    kind: readKind(record['kind'], at),
    label: readText(record, at, 'label', isLabel),
    username: readText(record, at, 'username', isUsername),
    passwordHash: readOptional(record, at, 'passwordHash', isPasswordHash),
    createdAt: readTime(record, at, 'createdAt'),
    lastSeenAt: record['lastSeenAt'] === undefined ? undefined : readTime(record, at, 'lastSeenAt'),
    lastSeenAddress: readOptional(record, at, 'lastSeenAddress'),
    lastClient: readOptional(record, at, 'lastClient'),
    dialect: readDialect(record['dialect'], at),
    usesOldKeys: readFlag(record, at, 'usesOldKeys'),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause, which quotes the text.
    throw new DeviceFileError('it is not JSON')
  }
}

function readRecord(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new DeviceFileError(`${at} must be an object`)
}

function readText(
  record: Readonly<Record<string, unknown>>,
  at: string,
  key: string,
  isValid: (text: string) => boolean = () => true,
): string {
  const value = record[key]
  if (typeof value === 'string' && isValid(value)) return value
  throw new DeviceFileError(`"${key}" of ${at} is missing or malformed`)
}

function readOptional(
  record: Readonly<Record<string, unknown>>,
  at: string,
  key: string,
  isValid?: (text: string) => boolean,
): string | undefined {
  return record[key] === undefined ? undefined : readText(record, at, key, isValid)
}

function readTime(record: Readonly<Record<string, unknown>>, at: string, key: string): number {
  const value = record[key]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new DeviceFileError(`"${key}" of ${at} must be a time in milliseconds`)
}

function readFlag(
  record: Readonly<Record<string, unknown>>,
  at: string,
  key: string,
): boolean | undefined {
  const value = record[key]
  if (value === undefined || typeof value === 'boolean') return value
  throw new DeviceFileError(`"${key}" of ${at} must be true or false`)
}

function readKind(value: unknown, at: string): DeviceKind {
  if (value === 'phone' || value === 'peer') return value
  throw new DeviceFileError(`"kind" of ${at} must be "phone" or "peer"`)
}

function readDialect(value: unknown, at: string): Dialect | undefined {
  if (value === undefined || value === 'sync' || value === 'syncclipboard') return value
  throw new DeviceFileError(`"dialect" of ${at} must be "sync" or "syncclipboard"`)
}

function isPasswordHash(text: string): boolean {
  return parsePhcString(text) !== undefined
}

function checkUnique(devices: readonly Device[], key: 'id' | 'username'): void {
  const seen = new Set(devices.map((device) => device[key]))
  if (seen.size < devices.length) throw new DeviceFileError(`two devices have one "${key}"`)
}
