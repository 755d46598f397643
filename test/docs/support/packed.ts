/**
 * The package as it is published, installed in a folder outside of this repository.
 * @module
 */

import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute } from '../../support/execute.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const MODULES = join(ROOT, 'node_modules')

const COMPILER = join(MODULES, 'typescript/bin/tsc')

/** What makes the package, and what is in it. */
const SOURCES = ['src', 'package.json', 'tsconfig.json', 'build', 'README.md']

/** Packages beside it: the types of Node. */
const NEIGHBOURS = ['@types/node', 'undici-types']

/** A folder with a program that uses the package. */
export interface Host {
  readonly folder: string
  /**
   * Compiles programs of this folder, under their names, and leaves JavaScript beside them.
   *
   * @throws {Error} with what the compiler says.
   */
  compile(programs: Readonly<Record<string, string>>, ...options: string[]): Promise<void>
  remove(): Promise<void>
}

/** Builds the package from the sources, packs it, and installs the pack. */
export async function installPackage(): Promise<Host> {
  const work = await mkdtemp(join(tmpdir(), 'clipgate-packed-'))
  const [build, folder] = [join(work, 'build'), join(work, 'host')]
  for (const name of SOURCES) await cp(join(ROOT, name), join(build, name), { recursive: true })
  await symlink(MODULES, join(build, 'node_modules'))
  await execute(process.execPath, [COMPILER, '-p', 'src'], { cwd: build })
  await execute(process.execPath, ['build/build.js'], { cwd: build })
  await execute('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: build })

  const installed = join(folder, 'node_modules/clipgate')
  await mkdir(installed, { recursive: true })
  await execute('sh', ['-c', `tar -xzf "$0"/*.tgz -C "$1" --strip-components 1`, build, installed])
  for (const name of NEIGHBOURS) {
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(join(MODULES, name), place)
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  return {
    folder,
    compile: async (programs, ...options) => {
      const names = Object.keys(programs)
      for (const name of names) await writeFile(join(folder, name), programs[name] ?? '')
      const flags = ['--strict', '--module', 'nodenext', '--target', 'es2022', ...options]
      await execute(process.execPath, [COMPILER, ...flags, ...names], { cwd: folder }).catch(
        (error: Error & { readonly stdout?: string }) => {
          throw new Error(error.stdout ?? error.message)
        },
      )
    },
    remove: () => rm(work, { recursive: true }),
  }
}
