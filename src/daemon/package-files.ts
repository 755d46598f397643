/** Where the files of the package are that this program came in. @module */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the whole package: this module runs in `dist`, and in `src/daemon`. */
export function packageFolder(): string {
  const folders = ['..', '../..'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
  const found = folders.find((folder) => existsSync(join(folder, 'package.json')))
  if (found === undefined) throw new Error('This program is not in its package')
  return join(found, '.')
}

/**
 * Finds a page of the documents, such as `docs/proxy.md`: beside the program, or where packages for
 * Linux have them.
 *
 * @returns Its path; its name where the package was put together without documents.
 */
export function pagePath(page: string): string {
  const folder = packageFolder()
  const paths = [folder, join(folder, '../../share/doc/clipgate')].map((place) => join(place, page))
  return paths.find((path) => existsSync(path)) ?? page
}

/** Finds the file that starts this program with a Node of its own, where a package has one. */
export function findLauncher(platform: NodeJS.Platform): string | undefined {
  const [folder, windows] = [packageFolder(), platform === 'win32']
  const path = windows ? join(folder, 'clipgate.cmd') : join(folder, '../../bin/clipgate')
  return existsSync(path) ? path : undefined
}
