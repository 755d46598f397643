/**
 * Opens what is ours in the data directory: no links, no pipes, nothing of another user. What other
 * users could read is taken away from them.
 * @module
 */

import { constants, type Stats } from 'node:fs'
import { chmod, lstat, open, stat, unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DomainError } from '../../core/domain-error.ts'
import {
  makePrivateFolder,
  makePrivateFolders,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  syncFolder,
  writeFileAtomically,
} from '../../lib/atomic-file.ts'
import { codeOf } from '../../lib/system-error.ts'
import { decodeUtf8, withoutByteOrderMark } from '../../lib/utf8.ts'
import type { PrivateFile } from '../../ports/private-file.ts'

const GROUP_AND_OTHERS = 0o077
const STICKY = 0o1000

/** Follows no link, and does not wait for the other end of a pipe. */
const READ_FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Why a file is refused: on Windows it has no mode, and its owner decides little; on macOS a person
 * decides which program may use the folders of documents and downloads.
 */
const RIGHTS_OF: Partial<Record<NodeJS.Platform, string>> = {
  win32: 'this user may not use it; change its permissions',
  darwin:
    'this user may not use it: change its owner or mode; in Desktop, Documents and Downloads also ' +
    'allow it in System Settings, Privacy & Security, Files and Folders',
}

const RIGHTS: string =
  RIGHTS_OF[process.platform] ?? 'this user may not use it; change its owner or mode'

const REASONS: Readonly<Record<string, string>> = {
  EACCES: RIGHTS,
  EBUSY: 'another program has it open; end that, or keep it away from this folder',
  EDQUOT: 'the disk quota is used up; make room',
  EEXIST: 'there is a file of that name; move it away',
  EISDIR: 'there is a folder of that name; move it away',
  ELOOP: 'it is a symbolic link; put the real thing in its place',
  EMFILE: 'too many files are open; raise the limit of open files',
  ENFILE: 'too many files are open on this machine; end other programs',
  ENOENT: 'the folder or the drive that it is on is not there; choose another place',
  ENOSPC: 'the disk is full; make room',
  ENOTDIR: 'it is not a folder, or lies below a file',
  EPERM: RIGHTS,
  EROFS: 'the file system is read-only; choose another place',
}

/** Opens a file, if there is one. @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
export async function openOwnFile(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle
  try {
    file = await open(path, READ_FLAGS)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw toUnusable(path, error)
  }
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw unusable(path, 'it is not a file; move it away')
    checkOwner(path, stats)
    if (isOpenToOthers(stats)) await file.chmod(PRIVATE_FILE_MODE)
    return file
  } catch (error) {
    await file.close()
    throw toUnusable(path, error)
  }
}

/**
 * Reads the text of a file; `undefined` when it does not exist.
 *
 * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`.
 * @throws {TypeError} when it is not UTF-8.
 */
export async function readOwnFile(path: string): Promise<string | undefined> {
  const file = await openOwnFile(path)
  if (file === undefined) return undefined
  try {
    return withoutByteOrderMark(decodeUtf8(await file.readFile()))
  } finally {
    await file.close()
  }
}

/** Makes sure of a folder in one of ours. @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
export async function ensureOwnFolder(path: string): Promise<void> {
  try {
    await makePrivateFolder(path)
    // Not a link: whoever planted it would get our files.
    const stats = await lstat(path)
    await protectFolder(path, stats)
    if (!isUsable(stats)) await chmod(path, PRIVATE_FOLDER_MODE)
  } catch (error) {
    throw toUnusable(path, error)
  }
}

/**
 * Makes sure of a private folder anywhere, and of the folders above it. It may be a link: whoever
 * chose it, chose that too.
 *
 * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`.
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  try {
    await makePrivateFolders(path)
    await protectFolder(path, await stat(path))
  } catch (error) {
    throw toUnusable(path, error)
  }
}

/** A failed system call as `DATA_DIRECTORY_UNUSABLE`; a domain error as it is. */
export function toUnusable(path: string, error: unknown): DomainError {
  if (error instanceof DomainError) return error
  const code = codeOf(error) ?? 'UNKNOWN'
  return unusable(path, REASONS[code] ?? `the system says ${code}`, error)
}

/** A private file in the data directory. */
export class DiskPrivateFile implements PrivateFile {
  readonly #path: string

  /** @param path In a folder that exists and that is ours alone. */
  constructor(path: string) {
    this.#path = path
  }

  async read(): Promise<string | undefined> {
    return readOwnFile(this.#path)
  }

  async write(text: string): Promise<void> {
    try {
      await writeFileAtomically(this.#path, text)
    } catch (error) {
      throw toUnusable(this.#path, error)
    }
  }

  async remove(): Promise<void> {
    try {
      await unlink(this.#path)
      await syncFolder(dirname(this.#path))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw toUnusable(this.#path, error)
    }
  }
}

async function protectFolder(path: string, stats: Stats): Promise<void> {
  if (stats.isSymbolicLink()) throw unusable(path, 'it is a link; put a folder in its place')
  if (!stats.isDirectory()) throw unusable(path, 'it is not a folder; move it away')
  checkOwner(path, stats)
  if (!isOpenToOthers(stats)) return
  // Making /tmp private would break the machine.
  if ((stats.mode & STICKY) !== 0) {
    throw unusable(path, 'it is shared with other users; choose a folder of its own')
  }
  await chmod(path, PRIVATE_FOLDER_MODE)
}

function checkOwner(path: string, { uid }: Stats): void {
  const user = process.geteuid?.()
  // Windows has no numbers for users; its profile folders are private.
  if (user === undefined || user === uid) return
  throw unusable(path, 'it belongs to another user; run as that user, or change its owner')
}

/** Whether its owner may do in a folder what we have to. */
function isUsable({ mode }: Stats): boolean {
  return process.platform === 'win32' || (mode & PRIVATE_FOLDER_MODE) === PRIVATE_FOLDER_MODE
}

function isOpenToOthers({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & GROUP_AND_OTHERS) !== 0
}

/** `DATA_DIRECTORY_UNUSABLE`, with the reason and the remedy. */
export function unusable(path: string, reason: string, cause?: unknown): DomainError {
  return new DomainError('DATA_DIRECTORY_UNUSABLE', `Cannot use ${path}: ${reason}`, { cause })
}
