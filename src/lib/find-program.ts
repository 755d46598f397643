/** Looks for a program as `spawn` would. @module */

import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** The path of the program `name`, all links followed; `undefined` when it is not installed. */
export async function findProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  // A relative folder would lead to programs in the folder where the daemon happens to run.
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(folder, name)
    try {
      await access(path, constants.X_OK)
      if ((await stat(path)).isFile()) return await realpath(path)
    } catch {
      // This folder does not have it.
    }
  }
  return undefined
}
