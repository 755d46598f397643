/**
 * The lock of a data directory: a file that says who runs on it.
 *
 * It appears with its whole content, or not at all. A lock whose process is gone is stale, and is
 * replaced by whoever has claimed it: the claim on one particular lock can be linked once only, so
 * two programs that start at the same time never both replace it. Whether the process of another
 * machine is gone cannot be seen from here: its lock is left alone.
 *
 * Process ids are used again, so where a system has files that one program alone can have open, the
 * holder has one open beside the lock, and a lock without it is stale.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { type FileHandle, link, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../../core/domain-error.ts'
import {
  PRIVATE_FILE_MODE,
  renameOver,
  temporaryPath,
  writeFileAtomically,
  writeNewFile,
} from '../../lib/atomic-file.ts'
import {
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  optional,
  type Decoder,
} from '../../lib/decoder.ts'
import { codeOf, hasCode } from '../../lib/system-error.ts'
import { parseJson } from '../../lib/utf8.ts'
import { readOwnFile, toUnusable } from './own-files.ts'
import {
  identifySelf,
  isAlive,
  isElsewhere,
  printableHost,
  type ProcessIdentity,
} from './process-identity.ts'
import { constants } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const LOCK_NAME = 'lock'
const SOLE_NAME = 'lock.held'
const CLAIM_NAME = /^lock\.[0-9a-f]{32}\.claim$/
const TOKEN = /^[0-9a-f]{32}$/

/** The tokens of this process: any other lock with its id is of one that had the id before. */
const ownTokens = new Set<string>()

/** The program that runs on a data directory. */
export interface LockHolder extends ProcessIdentity {
  /** ISO 8601, UTC. */
  readonly startedAt: string
  /** Base URL of its control listener, once there is one. */
  readonly control: string | undefined
}

interface LockRecord extends LockHolder {
  /** Tells this lock from all others: 32 hex digits. */
  readonly token: string
}

const decodeRecord: Decoder<LockRecord> = objectOf({
  token: matching(decodeString, (token) => TOKEN.test(token), '32 hex digits'),
  // Zero and negative numbers mean whole groups of processes to kill(2).
  pid: matching(decodeNumber, (pid) => Number.isSafeInteger(pid) && pid > 0, 'a process id'),
  processStart: optional(decodeString),
  bootId: optional(decodeString),
  bootTime: optional(decodeNumber),
  machine: optional(decodeString),
  host: optional(decodeString),
  startedAt: decodeString,
  control: optional(decodeString),
})

/**
 * The running program that holds the data directory at `folder`, if one does.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when it is one of another machine, which cannot be
 *   asked from here; `DATA_CORRUPT` when the lock is not one of ours.
 */
export async function readLockHolder(folder: string): Promise<LockHolder | undefined> {
  const path = join(folder, LOCK_NAME)
  const record = await readRecord(path)
  if (record !== undefined) refuseElsewhere(path, record)
  if (record === undefined) return undefined
  const sole = await askWhetherHeld(join(folder, SOLE_NAME))
  if (sole === 'free') return undefined
  if (isHolding(record)) return record
  // Whoever holds the file has not written its own record yet.
  return sole === 'held' ? { ...record, control: undefined } : undefined
}

/** A lock that is held. */
export class DirectoryLock {
  readonly #path: string
  readonly #sole: FileHandle | undefined
  #record: LockRecord

  constructor(path: string, record: LockRecord, sole: FileHandle | undefined) {
    this.#path = path
    this.#record = record
    this.#sole = sole
  }

  /**
   * Takes the lock of a folder, for as long as this program lives.
   *
   * @throws {DomainError} `DATA_DIRECTORY_BUSY`, naming the process that holds it, and its machine
   *   when that is another one; `DATA_CORRUPT`.
   */
  static async take(folder: string): Promise<DirectoryLock> {
    const path = join(folder, LOCK_NAME)
    const record: LockRecord = {
      token: randomBytes(16).toString('hex'),
      ...identifySelf(),
      startedAt: new Date().toISOString(),
      control: undefined,
    }
    const sole = await openSole(folder)
    ownTokens.add(record.token)
    try {
      if (sole !== undefined) await replaceStale(path, record)
      while (sole === undefined && !(await tryTake(path, record))) {
        // Somebody else's lock went away, or was replaced, while we looked at it.
      }
      await removeClaims(folder)
      return new DirectoryLock(path, record, sole)
    } catch (error) {
      ownTokens.delete(record.token)
      await sole?.close()
      throw error
    }
  }

  /** Tells others where to ask. @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
  async announce({ control }: { readonly control: string }): Promise<void> {
    const record = { ...this.#record, control }
    try {
      await writeFileAtomically(this.#path, format(record))
    } catch (error) {
      throw toUnusable(this.#path, error)
    }
    this.#record = record
  }

  /**
   * Gives the lock up. Calling it twice is fine.
   *
   * @throws The error of the system, when it cannot be removed; it is stale then all the same.
   */
  async release(): Promise<void> {
    try {
      const record = await readRecord(this.#path)
      if (record?.token === this.#record.token) await unlink(this.#path)
    } finally {
      ownTokens.delete(this.#record.token)
      // The file stays: removed by name, it might be one that the next program has just opened.
      await this.#sole?.close()
    }
  }
}

/** @returns Nothing where the system has no such files. @throws {DomainError}. */
async function openSole(folder: string): Promise<FileHandle | undefined> {
  const sole = await openAlone(join(folder, SOLE_NAME))
  if (sole === 'unknown') return undefined
  if (sole !== 'held') return sole
  const path = join(folder, LOCK_NAME)
  const holder = await readRecord(path)
  if (holder !== undefined) throw busy(path, holder)
  const message = `Cannot lock ${path}: clipgate starts or ends on this folder; try again`
  throw new DomainError('DATA_DIRECTORY_BUSY', message)
}

/** Whether the program that wrote the record has it still, as far as its process id tells. */
function isHolding(record: LockRecord): boolean {
  return record.pid === process.pid ? ownTokens.has(record.token) : isAlive(record)
}

/** Replaces what lies there, while no other program of this machine can. */
async function replaceStale(path: string, record: LockRecord): Promise<void> {
  const stale = await readRecord(path)
  if (stale !== undefined) refuseElsewhere(path, stale)
  // Not by a link: on Windows, memory cards and network drives have none.
  await writeFileAtomically(path, format(record))
}

/** @returns `false` when things have changed meanwhile, and it is worth another attempt. */
async function tryTake(path: string, record: LockRecord): Promise<boolean> {
  const own = temporaryPath(path)
  await writeNewFile(own, format(record))
  try {
    if (await tryLink(own, path)) return true
    const holder = await readRecord(path)
    const claim = holder && (await tryClaim(path, own, { path, record: holder }))
    if (claim === undefined) return false
    // A late claimant may hold the claim on a lock that has been replaced already.
    if ((await readRecord(path))?.token !== holder?.token) {
      await unlink(claim)
      return false
    }
    await renameOver(own, path)
    return true
  } catch (error) {
    // The holder of the lock, who has just started, sweeps temporary files.
    if (codeOf(error) === 'ENOENT') return false
    throw error
  } finally {
    await removeIfThere(own)
  }
}

/**
 * Claims the right to replace a stale lock. A claim whose process is gone is treated like a lock.
 *
 * @returns The claim; `undefined` when it went away while we looked at it.
 * @throws {DomainError} `DATA_DIRECTORY_BUSY` when the lock, or the claim, is not stale.
 */
async function tryClaim(
  path: string,
  own: string,
  held: { readonly path: string; readonly record: LockRecord },
): Promise<string | undefined> {
  refuseElsewhere(held.path, held.record)
  if (isHolding(held.record)) throw busy(path, held.record)
  const claim = `${path}.${held.record.token}.claim`
  if (await tryLink(own, claim)) return claim
  const claimant = await readRecord(claim)
  return claimant && tryClaim(path, own, { path: claim, record: claimant })
}

/**
 * Refuses a folder that another machine holds.
 *
 * @param path The lock, or the claim, that has to be removed when that machine is gone.
 * @throws {DomainError} `DATA_DIRECTORY_BUSY`.
 */
function refuseElsewhere(path: string, record: LockRecord): void {
  if (!isElsewhere(record)) return
  const host = printableHost(record.host)
  const holder = `process ${record.pid} on "${host}", since ${record.startedAt}`
  const problem = `Cannot lock ${path}: clipgate runs on this folder on another machine (${holder})`
  const remedy = `stop it there; if "${host}" is gone for good, remove ${path}`
  throw new DomainError('DATA_DIRECTORY_BUSY', `${problem}; ${remedy}`)
}

async function tryLink(existing: string, path: string): Promise<boolean> {
  try {
    await link(existing, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Removes the claims on the lock that we have replaced. */
async function removeClaims(folder: string): Promise<void> {
  const names = await readdir(folder)
  const claims = names.filter((name) => CLAIM_NAME.test(name))
  await Promise.all(claims.map((name) => removeIfThere(join(folder, name))))
}

/** Unlike `rm` with `force`, names the failure of the system when a folder is in the way. */
async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** Reads a lock or a claim; `undefined` when it is not there. */
async function readRecord(path: string): Promise<LockRecord | undefined> {
  try {
    const text = await readOwnFile(path)
    return text === undefined ? undefined : decodeRecord(parseJson(text))
  } catch (error) {
    if (error instanceof DomainError) throw error
    const remedy = 'make sure that no clipgate runs on this folder, then remove the file'
    const message = `Cannot read ${path}: it is no lock of ours; ${remedy}`
    throw new DomainError('DATA_CORRUPT', message, { cause: error })
  }
}

function format(record: LockRecord): string {
  return `${JSON.stringify(record)}\n`
}

function busy(path: string, { pid, startedAt }: LockRecord): DomainError {
  const holder = `process ${pid}, since ${startedAt}`
  const message = `Cannot lock ${path}: clipgate already runs on this folder (${holder})`
  return new DomainError('DATA_DIRECTORY_BUSY', `${message}; stop it first`)
}

/**
 * How a system is asked for a file that one program alone can have open, and that ends with its
 * program, however that ends. Node has no names for these flags, and hands them on as they are.
 */
interface Way {
  /** Added to open(2) by the one who holds the file. */
  readonly hold: number
  /** Added by those who only look. */
  readonly look: number
  /** How it says that somebody holds the file. */
  readonly heldCode: string
}

const WAYS: Partial<Record<NodeJS.Platform, Way>> = {
  // UV_FS_O_EXLOCK of libuv: shared with nobody, and whoever comes then is refused.
  win32: { hold: 0x1000_0000, look: 0, heldCode: 'EBUSY' },
  // O_EXLOCK and O_SHLOCK of open(2).
  darwin: {
    hold: 0x20 | constants.O_NONBLOCK,
    look: 0x10 | constants.O_NONBLOCK,
    heldCode: 'EAGAIN',
  },
}

/** Half a second in all: those who look have the file open for an instant. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 150, 200]

/** The part of a machine that decides; another one is for tests. */
export interface SoleFileSystem {
  readonly platform: NodeJS.Platform
  readonly open: (path: string, flags: number, mode?: number) => Promise<FileHandle>
  readonly wait: (ms: number) => Promise<unknown>
}

const THIS_SYSTEM: SoleFileSystem = { platform: process.platform, open, wait }

/**
 * Opens the file, and makes it where there is none. It stays when it is closed.
 *
 * @returns `held` when another program has it open, and `unknown` where no system or no file system
 *   can tell.
 */
export async function openAlone(
  path: string,
  { platform, open, wait }: SoleFileSystem = THIS_SYSTEM,
): Promise<FileHandle | 'held' | 'unknown'> {
  const way = WAYS[platform]
  if (way === undefined) return 'unknown'
  for (const waitMs of [0, ...WAITS_MS]) {
    if (waitMs > 0) await wait(waitMs)
    try {
      const flags = constants.O_RDWR | constants.O_CREAT | way.hold
      return await open(path, flags, PRIVATE_FILE_MODE)
    } catch (error) {
      if (isUnsupported(error)) return 'unknown'
      if (!hasCode(error, way.heldCode)) throw error
    }
  }
  return 'held'
}

/** Whether a program has the file open alone, as far as that can be told. */
export async function askWhetherHeld(
  path: string,
  { platform, open }: Omit<SoleFileSystem, 'wait'> = THIS_SYSTEM,
): Promise<'held' | 'free' | 'unknown'> {
  const way = WAYS[platform]
  if (way === undefined) return 'unknown'
  try {
    await (await open(path, constants.O_RDONLY | way.look)).close()
    return 'free'
  } catch (error) {
    if (hasCode(error, way.heldCode)) return 'held'
    // A lock without this file was taken where no file can be held.
    if (isUnsupported(error) || hasCode(error, 'ENOENT')) return 'unknown'
    throw error
  }
}

/** Some network folders of macOS. */
function isUnsupported(error: unknown): boolean {
  return hasCode(error, 'ENOTSUP', 'EOPNOTSUPP')
}
