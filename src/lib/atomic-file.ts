/**
 * Replaces small files: readers and crashes see old bytes or new ones, never a mixture. Folders
 * that it makes are there after a power cut. Some are one JSON object, and the version of its
 * shape: what this version writes is taken, and everything else refused. Messages quote no file.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, type FileHandle, link, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { decodeNumber, type Decoder, objectOf } from './decoder.ts'
import { codeOf, hasCode } from './system-error.ts'
import { parseJson } from './utf8.ts'

/** Readable and writable by the owner only: what we keep is private. */
export const PRIVATE_FILE_MODE = 0o600

type FileContent = string | Uint8Array | readonly Uint8Array[]

/** How unfinished files are named; whoever owns the folder sweeps them at start. */
const TEMPORARY_NAME = /^.+\.[0-9a-f]{12}\.tmp$/

/** Whether a file of this name was left by a program that died while it wrote. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name)
}

/** A new name beside `path`, for a file that is not finished. */
export function temporaryPath(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`
}

/**
 * Writes `content` to a new file beside `path`, syncs it, renames it to `path`, and syncs the
 * folder. When it rejects, `path` is as it was and nothing is left beside it.
 *
 * @throws As {@link renameOver}, or the error of another failing system call.
 */
export async function writeFileAtomically(path: string, content: FileContent): Promise<void> {
  const temporary = temporaryPath(path)
  await writeNewFile(temporary, content)
  const earlier = await keepEarlier(path)
  try {
    await renameOver(temporary, path)
    await syncFolder(dirname(path)).catch(async (error: unknown) => {
      await earlier.restore()
      throw error
    })
  } catch (error) {
    await removeQuietly(temporary)
    throw error
  } finally {
    await earlier.forget()
  }
}

/**
 * Replaces a file like {@link writeFileAtomically}, but waits for no disk: it survives the death of
 * this program, and a power cut may leave the old bytes, the new ones, or none.
 *
 * @throws As {@link renameOver}, or the error of another failing system call.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryPath(path)
  await fillNewFile(temporary, (file) => file.writeFile(content))
  try {
    await renameOver(temporary, path)
  } catch (error) {
    await removeQuietly(temporary)
    throw error
  }
}

/** Writes a private file that did not exist, and syncs it. When it rejects, nothing is left. */
export async function writeNewFile(path: string, content: FileContent): Promise<void> {
  const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content
  await fillNewFile(path, async (file) => {
    // Each behind the one before it.
    for (const piece of pieces) await file.writeFile(piece)
    await file.sync()
  })
}

async function fillNewFile(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await createPrivateFile(path)
  try {
    await fill(file).finally(() => file.close())
  } catch (error) {
    await removeQuietly(path)
    throw error
  }
}

/** Creates a private file where there was nothing, for writing and reading. */
export async function createPrivateFile(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = await open(path, flags, PRIVATE_FILE_MODE)
  try {
    // The umask may have taken even the owner's rights.
    await file.chmod(PRIVATE_FILE_MODE)
    return file
  } catch (error) {
    await file.close()
    await removeQuietly(path)
    throw error
  }
}

/** Makes earlier renames, creations and removals in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders; NTFS journals its metadata by itself.
  if (process.platform === 'win32') return
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The same for folders. */
export const PRIVATE_FOLDER_MODE = 0o700

/**
 * Makes sure of a folder, and of those above it, durably.
 *
 * @throws The error of a failing system call.
 */
export async function makePrivateFolders(path: string): Promise<void> {
  try {
    await makeDurableFolder(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    await makePrivateFolders(dirname(path))
    await makeDurableFolder(path)
  }
}

/** A power cut would take a new folder with all that was acknowledged in it. */
async function makeDurableFolder(path: string): Promise<void> {
  if (!(await makePrivateFolder(path))) return
  try {
    await syncFolder(dirname(path))
  } catch (error) {
    // A folder that may be written to and not read cannot be synced.
    if (codeOf(error) !== 'EACCES') throw error
  }
}

/**
 * Makes a folder in one that is there.
 *
 * @returns Whether it was not there.
 * @throws The error of a failing system call.
 */
export async function makePrivateFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, PRIVATE_FOLDER_MODE)
    // The umask may have taken even our own rights.
    await chmod(path, PRIVATE_FOLDER_MODE)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

interface EarlierFile {
  restore(): Promise<void>
  forget(): Promise<void>
}

/** Gives the file that is about to be replaced a second name, until that is safe. */
async function keepEarlier(path: string): Promise<EarlierFile> {
  // There nothing can fail after the rename; and what a program has open keeps its second name.
  if (process.platform === 'win32') return { restore: async () => {}, forget: async () => {} }
  const kept = temporaryPath(path)
  try {
    await link(path, kept)
    return { restore: () => renameOver(kept, path), forget: () => removeQuietly(kept) }
  } catch (error) {
    // Some file systems have no links; there, a failing sync leaves the new file.
    const restore = async (): Promise<void> => {
      if (hasCode(error, 'ENOENT')) await unlink(path)
    }
    return { restore, forget: async () => {} }
  }
}

/** For cleaning up: the error that made it necessary is the one that tells what happened. */
async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => undefined)
}

/** Windows renames nothing onto a file that a scanner, an indexer or a backup has open. */
const HELD_CODES: readonly string[] = ['EPERM', 'EACCES', 'EBUSY']

/** Two seconds in all: those programs let go of a small file within a fraction of that. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 160, 300, 400, 490, 500]

/** A file that another program had open for too long. */
export class FileHeldError extends Error {
  override readonly name = 'FileHeldError'
  readonly code = 'EBUSY'

  constructor(cause: unknown) {
    super('Cannot replace a file: another program has it open', { cause })
  }
}

/** The part of a machine that {@link renameOver} needs; another one is for tests. */
export interface RenamingSystem {
  readonly platform: NodeJS.Platform
  readonly rename: (from: string, to: string) => Promise<void>
  /** Resolves after so many milliseconds, for which it keeps the program alive. */
  readonly wait: (ms: number) => Promise<unknown>
}

const THIS_SYSTEM: RenamingSystem = { platform: process.platform, rename, wait }

/**
 * Renames a file, and replaces what has the name. Where another program has that open, it is tried
 * again for two seconds.
 *
 * @throws {FileHeldError} when it is still open then.
 * @throws What the system call throws for another reason.
 */
export async function renameOver(
  from: string,
  to: string,
  system: RenamingSystem = THIS_SYSTEM,
): Promise<void> {
  // Elsewhere these codes are about rights, which do not come by waiting.
  const isHeld = (error: unknown): boolean =>
    system.platform === 'win32' && hasCode(error, ...HELD_CODES)
  for (const waitMs of WAITS_MS) {
    try {
      return await system.rename(from, to)
    } catch (error) {
      if (!isHeld(error)) throw error
      await system.wait(waitMs)
    }
  }
  await system.rename(from, to).catch((error: unknown) => {
    throw isHeld(error) ? new FileHeldError(error) : error
  })
}

/** The text of one kind of file. */
export interface JsonFile<Value> {
  /** The text of the file, with a line end. */
  format(value: Value): string
  /**
   * Reads the text of a file.
   *
   * @throws {NewerVersionError} when a later version of this program wrote it.
   * @throws {TypeError} saying what is wrong with it.
   */
  parse(text: string | Uint8Array): Value
}

/** A later version of this program wrote the file, and knows what to do with it. */
export class NewerVersionError extends TypeError {
  override readonly name = 'NewerVersionError'

  constructor() {
    super('a newer version of clipgate wrote it')
  }
}

const decodeVersion = objectOf({ version: decodeNumber })

/**
 * Defines a kind of file.
 *
 * @param options.version The version that is written: a whole number from 1.
 * @param options.reads The versions that can be read; only the one that is written, unless given.
 */
export function defineJsonFile<Value extends object>(options: {
  readonly version: number
  readonly reads?: readonly number[]
  readonly decode: Decoder<Value>
}): JsonFile<Value> {
  const { version, reads = [version], decode } = options
  const newest = Math.max(...reads)
  return {
    format: (value) => `${JSON.stringify({ version, ...value })}\n`,
    parse(text) {
      const value = parseJson(text)
      const found = decodeVersion(value).version
      if (reads.includes(found)) return decode(value)
      if (found > newest) throw new NewerVersionError()
      throw new TypeError(`"version" must be ${reads.join(' or ')}`)
    },
  }
}
