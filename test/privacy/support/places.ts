/**
 * Which files may hold which secrets, and a search of all others.
 * @module
 */

import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface Place {
  /** Fits the whole path inside of the enclosure. */
  readonly path: RegExp
  /** Secrets that may be in it. */
  readonly holds?: readonly string[]
  /** Secrets that may be in its name. */
  readonly isNamedAfter?: readonly string[]
  /** Has the mode of any new file of the user: it is theirs, and they put it there. */
  readonly isOfUser?: true
}

/** The suffix of files that replace others when they are whole. */
const UNFINISHED = /\.[0-9a-f]{12}\.tmp$/

/** The place that a path inside of the enclosure belongs to. */
export function placeOf(path: string, places: readonly Place[]): Place | undefined {
  const name = path.replace(UNFINISHED, '')
  return places.find((candidate) => candidate.path.test(name))
}

/** Judges everything below a folder: names and contents by their places, modes by what is private. */
export async function searchFolder(
  folder: string,
  places: readonly Place[],
  judge: (what: string, bytes: Uint8Array, allowed?: readonly string[]) => void,
  report: (what: string) => void,
): Promise<void> {
  for (const path of await readdir(folder, { recursive: true })) {
    const place = placeOf(path, places)
    const found = await read(join(folder, path))
    if (found === undefined) continue
    judge(`name of "${path}"`, Buffer.from(path), place?.isNamedAfter)
    judge(`content of "${path}"`, found.content, place?.holds)
    const { mode, privateMode } = found
    if (mode !== privateMode && place?.isOfUser !== true) report(`mode of "${path}": ${mode}`)
  }
}

interface Found {
  readonly content: Buffer
  /** In octal. */
  readonly mode: string
  /** What it should be. */
  readonly privateMode: string
}

/** `undefined` when it is gone. */
async function read(path: string): Promise<Found | undefined> {
  try {
    const stats = await lstat(path)
    const mode = (stats.mode & 0o777).toString(8)
    if (stats.isSymbolicLink()) {
      // That of a link says nothing.
      return { content: await readlink(path, 'buffer'), mode, privateMode: mode }
    }
    if (stats.isDirectory()) return { content: Buffer.alloc(0), mode, privateMode: '700' }
    return { content: await readFile(path), mode, privateMode: '600' }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
