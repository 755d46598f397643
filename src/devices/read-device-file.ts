/**
 * Reads `devices.json` from the disk, or refuses it with a remedy and leaves it as it is.
 *
 * @module
 */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { DomainError } from '../core/domain-error.ts'
import { MIB } from '../core/limits.ts'
import { PRIVATE_FILE_MODE } from '../lib/atomic-file.ts'
import type { Device } from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import { DeviceFileError, parseDeviceFile } from './device-file.ts'

/** A hundred thousand devices take 40 MB. */
const MAX_FILE_BYTES = 64 * MIB

const GROUP_AND_OTHERS = 0o077

/**
 * The devices in the file; none when there is no file. Takes the file away from everybody but its
 * owner when it is open to more.
 *
 * @throws {DomainError} `DATA_CORRUPT`; `DATA_DIRECTORY_UNUSABLE` when it cannot be read or belongs
 *   to somebody else.
 */
export async function readDeviceFile(path: string, logger: Logger): Promise<readonly Device[]> {
  const file = await openFile(path)
  if (file === undefined) return []
  try {
    await takeOwnership(file, path, logger)
    return parseDeviceFile(decodeUtf8(await file.readFile()))
  } catch (error) {
    if (!(error instanceof DeviceFileError)) throw error
    const { message, remedy } = error
    throw new DomainError('DATA_CORRUPT', `Cannot read ${path}: ${message}; ${remedy}`)
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
  if (stats.size > MAX_FILE_BYTES) throw new DeviceFileError('it is too large to be ours')
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

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Without the cause: the remedy is the same whichever byte is wrong.
    throw new DeviceFileError('it is not UTF-8')
  }
}

function unusable(path: string, reason: string, cause?: unknown): DomainError {
  return new DomainError('DATA_DIRECTORY_UNUSABLE', `Cannot read ${path}: ${reason}`, { cause })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
