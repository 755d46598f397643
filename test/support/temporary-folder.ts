/** Folders and files that are gone after the test. @module */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'

const left: string[] = []

after(async () => {
  for (const folder of left) await rm(folder, { recursive: true }).catch(() => undefined)
})

/** Makes a folder that is there until all tests of the file have ended. */
export async function folderForAll(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-test-'))
  left.push(folder)
  return folder
}

/** Makes a folder for one test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  // Windows removes nothing that is open, and what a test closes when it ends is closed after this.
  if (process.platform === 'win32') return folderForAll()
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-test-'))
  // A daemon that ends later may write a file meanwhile.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
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
