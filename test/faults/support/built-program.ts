/**
 * The program as it is shipped, in a folder of its own, which tests may spoil.
 * @module
 */

import { chmod, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { makeBuild, PROJECT } from '../../packaging/support/make-release.ts'
import { BUILT } from '../../support/program.ts'

/** Copies what `make build` made, or builds, for the tests of a file; it is removed after them. */
export async function buildProgram(): Promise<{
  readonly main: string
  /** The folder of what is read or run by itself. */
  readonly files: string
}> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-program-'))
  after(() => rm(folder, { recursive: true }))
  const dist = join(folder, 'dist')
  if (BUILT === undefined) await makeBuild(folder)
  else {
    await cp(join(PROJECT, 'dist'), dist, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  }
  // Also for a daemon of another user.
  await chmod(folder, 0o755)
  return { main: join(dist, 'cli/main.js'), files: join(dist, 'clipgate-files') }
}
