/**
 * Where the files of this program are that it reads or runs by themselves, and whether they are
 * still there.
 * @module
 */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ResourceLimits } from 'node:worker_threads'

/** `build/build.js` names the folder for them here; in the sources each is where it is used. */
declare const CLIPGATE_FILES: string | undefined

/** The consequence, for people. */
export const PROGRAM_GONE = 'The files of clipgate are gone or were replaced: start it again'

/**
 * For a worker that makes few objects, in MiB: by default it would keep 7 MiB of garbage before it
 * looked. What it has outside of its heap is not limited.
 */
export const SMALL_HEAP: ResourceLimits = {
  maxOldGenerationSizeMb: 16,
  maxYoungGenerationSizeMb: 1,
}

/**
 * Whether the files are gone, as behind an upgrade: what was not loaded before cannot be loaded any
 * more. Asked when something has failed.
 */
export function isProgramGone(): boolean {
  return !existsSync(new URL(here()))
}

/**
 * Finds a file: in the folder of such files beside the program, or in the package, where the
 * program is part of a bundle that has none beside it.
 *
 * @param path Relative to the module `from`, in the sources.
 */
export function ownFile(path: `./${string}`, from: string): URL {
  if (typeof CLIPGATE_FILES === 'undefined') return new URL(path, from)
  const beside = new URL(CLIPGATE_FILES + path, here())
  return existsSync(beside) ? beside : (findInPackage(CLIPGATE_FILES + path) ?? beside)
}

/**
 * Finds a file of a package, which the build has put among ours.
 *
 * @param name Its name there.
 * @returns An absolute path.
 */
export function packageFile(specifier: string, name: string): string {
  if (typeof CLIPGATE_FILES === 'undefined') return createRequire(here()).resolve(specifier)
  return fileURLToPath(ownFile(`./${name}`, here()))
}

function findInPackage(path: string): URL | undefined {
  try {
    return new URL(path, pathToFileURL(createRequire(here()).resolve('clipgate/gateway')))
  } catch {
    // The package is not there either, and whoever opens the file beside the program says so.
    return undefined
  }
}

function here(): string {
  // There is no such URL in CommonJS, which bundlers make of this if they are asked to.
  const url: string | undefined = import.meta.url
  return url ?? pathToFileURL(__filename).href
}
