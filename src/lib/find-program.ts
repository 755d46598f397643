/**
 * Looks for a program as `spawn` would.
 *
 * @module
 */

import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** Where `name` is, with all links followed; `undefined` when it is not installed. */
export async function findProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  // What is in the folder where the daemon happens to run is nobody's tool.
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(folder, name)
    try {
      await access(path, constants.X_OK)
      if ((await stat(path)).isFile()) return await realpath(path)
    } catch {
      // Not here.
    }
  }
  return undefined
}
