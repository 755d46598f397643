/**
 * Finds the folders and links on the way to a folder that other users could change: whoever owns
 * one of them decides where files go.
 *
 * Trusts this user and whoever owns the file system, and believes that the rights of a group were
 * given on purpose: with the umask of many systems each user has a group of one.
 * @module
 */

import type { Stats } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse, resolve } from 'node:path'
import { codeOf } from './system-error.ts'

/** A folder or link on the way that is not to be trusted. */
export interface Untrusted {
  readonly path: string
  /** Continues the path to a sentence: "belongs to another user". */
  readonly reason: string
}

/** Linux follows as many links. */
const MAX_LINKS = 40

const WRITABLE_BY_ALL = 0o002

/** Every user may make files in the folder, and remove only their own. */
const STICKY = 0o1000

/**
 * Returns the first folder or link on the way to the folder `path` that another user controls, or
 * the folder itself when it is not this user's own. Returns `undefined` when there is none, on
 * Windows, and where the way ends: a folder that is made then is this user's.
 *
 * @throws The error of a failing system call.
 */
export async function findUntrusted(path: string): Promise<Untrusted | undefined> {
  const user = process.geteuid?.()
  if (user === undefined) return undefined
  const { root } = parse(resolve(path))
  // Not 0: in a user namespace, the owner of the system has another number.
  const owners = new Set([user, (await lstat(root)).uid])
  const steps = segmentsOf(resolve(path))
  let at = root
  let links = 0
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (step === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, step)
    const stats = await statsOf(next)
    if (stats === undefined) return undefined
    const reason = whyUntrusted(stats, owners)
    if (reason !== undefined) return { path: next, reason }
    if (!stats.isSymbolicLink()) {
      at = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) return { path: next, reason: 'leads through too many links' }
    const target = await readlink(next)
    if (isAbsolute(target)) at = root
    steps.unshift(...segmentsOf(target))
  }
  const isOwn = (await lstat(at)).uid === user
  return isOwn ? undefined : { path: at, reason: 'belongs to another user' }
}

function whyUntrusted(stats: Stats, owners: ReadonlySet<number>): string | undefined {
  if (!owners.has(stats.uid)) return 'belongs to another user'
  // The mode of a link says nothing.
  if (stats.isSymbolicLink()) return undefined
  const isOpen = (stats.mode & WRITABLE_BY_ALL) !== 0 && (stats.mode & STICKY) === 0
  return isOpen ? 'can be changed by every user' : undefined
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}

/** About the name itself and not what a link points to; `undefined` when it is free. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
