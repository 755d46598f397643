/**
 * The lock of a data directory: a file that says who runs on it.
 *
 * It appears with its whole content, or not at all. A lock whose process is gone is stale, and is
 * replaced by whoever has claimed it: the claim on one particular lock can be linked once only, so
 * two programs that start at the same time never both replace it. Whether the process of another
 * machine is gone cannot be seen from here: its lock is left alone.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { link, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../core/domain-error.ts'
import { temporaryPath, writeFileAtomically, writeNewFile } from '../lib/atomic-file.ts'
import {
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import { codeOf } from '../lib/system-error.ts'
import { parseJson } from '../lib/utf8.ts'
import { readOwnFile, toUnusable } from './own-files.ts'
import {
  identifySelf,
  isAlive,
  isElsewhere,
  printableHost,
  type ProcessIdentity,
} from './process-identity.ts'

const LOCK_NAME = 'lock'
const CLAIM_NAME = /^lock\.[0-9a-f]{32}\.claim$/
const TOKEN = /^[0-9a-f]{32}$/

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
  if (record !== undefined) await refuseElsewhere(path, record)
  return record !== undefined && (await isAlive(record)) ? record : undefined
}

/** A lock that is held. */
export class DirectoryLock {
  readonly #path: string
  #record: LockRecord

  constructor(path: string, record: LockRecord) {
    this.#path = path
    this.#record = record
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
      ...(await identifySelf()),
      startedAt: new Date().toISOString(),
      control: undefined,
    }
    while (!(await tryTake(path, record))) {
      // Somebody else's lock went away, or was replaced, while we looked at it.
    }
    await removeClaims(folder)
    return new DirectoryLock(path, record)
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

  /** Gives the lock up. Calling it twice is fine. */
  async release(): Promise<void> {
    const record = await readRecord(this.#path)
    if (record?.token === this.#record.token) await unlink(this.#path)
  }
}

/** `false` when things have changed meanwhile, and it is worth another attempt. */
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
    await rename(own, path)
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
  await refuseElsewhere(held.path, held.record)
  if (await isAlive(held.record)) throw busy(path, held.record)
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
async function refuseElsewhere(path: string, record: LockRecord): Promise<void> {
  if (!(await isElsewhere(record))) return
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
