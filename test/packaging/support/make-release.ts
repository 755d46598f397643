/** Builds, and makes a release, from a copy of the project. @module */

import { cp, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute } from '../../support/execute.ts'
import { BUILT } from '../../support/program.ts'

/** The project that the tests belong to. */
export const PROJECT: string = fileURLToPath(new URL('../../../', import.meta.url))

const SOURCES = /^(?:src|build|deploy|docs|Makefile|[A-Z]+(?:\.md)?|.*\.json)$/

/**
 * Makes a release in an empty folder.
 *
 * @param env What is other than here. With it all is built once more, which depends on where packages are.
 * @param targets The platforms whose packages have a Node with them, as `TARGETS` of the Makefile.
 * @returns The folder of what was made.
 */
export async function makeRelease(
  folder: string,
  env?: NodeJS.ProcessEnv,
  targets = '',
): Promise<string> {
  await makeInCopy(folder, 'release', env, [`TARGETS=${targets}`])
  return join(folder, 'release')
}

/** The number of what was published before. */
export const OLDER = '0.0.9'

/**
 * Makes a release from a copy that another one was made from, with the number of an earlier one.
 *
 * @returns The folder of what was made; that of the other one is as it was.
 */
export async function makeOlderRelease(folder: string, target: string): Promise<string> {
  const [path, release, kept, older] = ['package.json', 'release', 'kept', 'older'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  const manifest = await readFile(path, 'utf8')
  await rename(release, kept)
  await writeFile(path, manifest.replace(/"version": "[^"]*"/, `"version": "${OLDER}"`))
  await packRelease(folder, target)
  await rename(release, older)
  await rename(kept, release)
  await writeFile(path, manifest)
  return older
}

/** Makes the files of a release from what was built in a folder. */
export async function packRelease(folder: string, ...targets: readonly string[]): Promise<void> {
  const args = ['--import', 'tsx', 'build/release.ts', ...targets]
  await execute(process.execPath, args, { cwd: folder })
}

/**
 * Has a build in an empty folder.
 *
 * @returns The folder `dist`.
 */
export async function makeBuild(folder: string): Promise<string> {
  await makeInCopy(folder, 'build')
  return join(folder, 'dist')
}

/** Copies the sources and runs `make` there: the folders of this project stay as they are. */
async function makeInCopy(
  folder: string,
  target: string,
  env?: NodeJS.ProcessEnv,
  variables: readonly string[] = [],
): Promise<void> {
  for (const name of (await readdir(PROJECT)).filter((name) => SOURCES.test(name))) {
    await cp(join(PROJECT, name), join(folder, name), { recursive: true })
  }
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  // The packages are there, whatever is newer, and so is what `make test` has just built.
  const there = ['-o', 'node_modules']
  if (env === undefined && BUILT !== undefined) {
    await cp(join(PROJECT, 'dist'), join(folder, 'dist'), { recursive: true })
    there.push('-o', 'build')
  }
  const args = [...there, target, `NODE=${process.execPath}`, ...variables]
  await execute('make', args, { cwd: folder, env: { ...process.env, ...env } })
}
