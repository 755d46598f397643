/** Folders of a user who copies them. @module */

import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A folder of the user, with `tree` in it: files of these contents, and folders. */
export async function makeTree(
  t: TestContext,
  tree: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-user-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(tree)) {
    const path = join(folder, name)
    await mkdir(name.endsWith('/') ? path : join(path, '..'), { recursive: true })
    if (name.endsWith('/')) continue
    await writeFile(path, content)
    // Whatever the clock of the file system can tell apart.
    await utimes(path, 1_700_000_000, 1_700_000_000)
  }
  return folder
}
