/** Folders and files that are gone after the test. @module */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Makes a folder for one test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Makes a file in a folder of its own. @returns Its path. */
export async function temporaryFile(
  t: TestContext,
  name: string,
  content: string | Uint8Array = '',
): Promise<string> {
  const path = join(await temporaryFolder(t), name)
  await writeFile(path, content)
  return path
}
