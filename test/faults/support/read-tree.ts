/**
 * Everything below a folder.
 * @module
 */

import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** By path: the content of files in latin1, the kind of everything else; nothing is followed. */
export async function readTree(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(folder, { recursive: true })
  const paths = names.map((name) => join(folder, name)).sort()
  const entries = paths.map(async (path) => [path, await describe(path)])
  return Object.fromEntries(await Promise.all(entries))
}

async function describe(path: string): Promise<string> {
  const stats = await lstat(path)
  if (stats.isFile()) return readFile(path, 'latin1')
  if (stats.isSymbolicLink()) return `a link to ${await readlink(path)}`
  return stats.isDirectory() ? 'a folder' : 'something else'
}
