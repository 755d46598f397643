/**
 * Whether there is a place for what clipgate keeps: the data directory, the folder of pushed files,
 * and room on the disk.
 *
 * Makes nothing. Modes that a start repairs by itself are no finding.
 * @module
 */

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findUntrusted } from '../lib/find-untrusted.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { codeOf } from '../lib/system-error.ts'
import { parseItemFile } from '../storage/disk-latest-item.ts'
import { readOwnFile } from '../storage/home/own-files.ts'
import { fine, hint, problem, type Verdict } from './finding.ts'
import type { Situation } from './situation.ts'

const OTHERS_MAY_WRITE = 0o022
const STICKY = 0o1000

/** An upload takes two files, and so do other programs all the time. */
const FEW_FILES = 1000

/** The share of the quota of waiting uploads above which one more may not fit. */
const FULL_SHARE = 0.9

/** Looks at the data directory, or at the place where it would be made. */
export async function checkDataDirectory({ settings, daemon }: Situation): Promise<Verdict> {
  const { dataDir } = settings
  const place = await findPlace(dataDir)
  if (!place.isFolder) {
    return problem(`${place.path} is not a folder`, 'move it away, or set --data-dir')
  }
  const trouble = await findTrouble(place)
  if (trouble !== undefined) {
    const fix = 'make it writable for this user (chown, chmod, mount), or set --data-dir'
    return problem(`${place.path} cannot be used: ${trouble}`, fix)
  }
  if (place.path !== dataDir) return fine(`${dataDir} is made by the first start`)
  const user = process.geteuid?.()
  if (user !== undefined && place.uid !== user) {
    const fix = 'run as that user, or change its owner: chown -R'
    return problem(`${dataDir} belongs to another user`, fix)
  }
  if ((place.mode & STICKY) !== 0 && (place.mode & OTHERS_MAY_WRITE) !== 0) {
    const fix = 'set --data-dir to a folder of its own'
    return problem(`${dataDir} is shared with other users`, fix)
  }
  if (daemon === undefined && (await isItemDamaged(dataDir))) {
    const path = join(dataDir, 'item.json')
    const fix = `start once to see why, or move ${path} away`
    return problem(`${path} is damaged, or not ours to read`, fix)
  }
  return fine(dataDir)
}

/** A damaged item stops a start. */
async function isItemDamaged(dataDir: string): Promise<boolean> {
  try {
    const text = await readOwnFile(join(dataDir, 'item.json'))
    if (text !== undefined) parseItemFile(text)
    return false
  } catch {
    // The cause may quote what was copied.
    return true
  }
}

/** Looks whether pushed files can land, where there is a clipboard to offer them. */
export async function checkReceivedFolder({ daemon, settings }: Situation): Promise<Verdict> {
  const wanted = settings.headless ? 'none' : settings.clipboard
  const clipboard = daemon === undefined ? wanted : daemon.status.clipboard
  if (clipboard === 'none')
    return fine('none: without a clipboard, pushed files stay in the data directory')
  const { receivedDir } = settings
  const place = await findPlace(receivedDir)
  const trouble = (await findTrouble(place)) ?? (await findForeign(receivedDir))
  if (trouble !== undefined) {
    const fix = 'make it a folder that this user can write to, or set --received-dir'
    return problem(`${place.path} cannot take pushed files: ${trouble}`, fix)
  }
  return fine(place.path === receivedDir ? receivedDir : `${receivedDir} is made when needed`)
}

async function findForeign(path: string): Promise<string | undefined> {
  const untrusted = await findUntrusted(path)
  return untrusted && `${untrusted.path} ${untrusted.reason}`
}

/** Looks whether uploads find room. */
export async function checkDisk({ settings, machine, daemon }: Situation): Promise<Verdict> {
  const { dataDir, minFreeBytes, maxFileBytes, stagingQuotaBytes } = settings
  const { bavail, bsize, files, ffree } = await machine.statfs((await findPlace(dataDir)).path)
  const free = bavail * bsize
  const detail = `${formatBytes(free)} free for ${dataDir}`
  if (free <= minFreeBytes || free === 0) {
    const limit =
      minFreeBytes === 0 ? '' : `; uploads are refused below ${formatBytes(minFreeBytes)}`
    const fix = 'make room, or move it: --data-dir; the limit is --min-free-bytes'
    return problem(detail + limit, fix)
  }
  // Some file systems make them as they are needed, and count none.
  if (files > 0 && ffree < FEW_FILES) {
    const fix = 'delete many small files on that file system, or move the data: --data-dir'
    return problem(`${detail}, but room for only ${ffree} more files (inodes)`, fix)
  }
  const staged = daemon?.status.storage.stagedBytes ?? 0
  if (staged > stagingQuotaBytes * FULL_SHARE) {
    const share = `${formatBytes(staged)} of ${formatBytes(stagingQuotaBytes)}`
    const fix = 'wait until they expire (--staging-ttl), or raise --staging-quota-bytes'
    return problem(`${detail}; uploads that wait for their document take ${share}`, fix)
  }
  if (free - minFreeBytes >= maxFileBytes) return fine(detail)
  const largest = `a file of ${formatBytes(maxFileBytes)}, the largest allowed, would not fit`
  const fix = 'nothing, unless somebody pushes files of that size: then make room'
  return hint(`${detail}; ${largest}`, fix)
}

interface Place {
  readonly path: string
  readonly isFolder: boolean
  readonly uid: number
  readonly mode: number
}

/** The folder at `path`, or the nearest one above it that exists. */
async function findPlace(path: string): Promise<Place> {
  try {
    const stats = await stat(path)
    return { path, isFolder: stats.isDirectory(), uid: stats.uid, mode: stats.mode }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) {
      return { path, isFolder: codeOf(error) !== 'ENOTDIR', uid: -1, mode: 0 }
    }
    return findPlace(dirname(path))
  }
}

/** Why a place cannot be written to; `undefined` when it can. */
async function findTrouble({ path, isFolder }: Place): Promise<string | undefined> {
  if (!isFolder) return 'it is not a folder'
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EROFS') return 'the file system is read-only'
    return code === 'EACCES' || code === 'EPERM' ? 'this user may not' : `the system says ${code}`
  }
}
