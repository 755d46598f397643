/**
 * A machine with Node and nothing else: a root folder of its own, and a network without a way out.
 * @module
 */

import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { makeMachine, needsMachines } from '../../support/machines.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { execute } from '../../support/execute.ts'

/** Options for `it()`. */
export function needsCleanRoot(): { readonly skip: string | false } {
  return needsMachines('chroot', 'ldd', 'dpkg', 'tar', 'make')
}

export interface CleanRoot {
  readonly folder: string
  /** The beginning of a command that runs a program of this root. */
  readonly inside: readonly string[]
  /** Runs a program of this root, and returns what it printed. */
  run(...command: readonly string[]): Promise<string>
}

/** Makes a root that is gone when the test ends. */
export async function makeCleanRoot(t: TestContext): Promise<CleanRoot> {
  const folder = await temporaryFolder(t)
  for (const name of ['proc', 'tmp', 'dev', 'etc', 'home/user', 'usr/bin']) {
    await mkdir(join(folder, name), { recursive: true })
  }
  await execute('mknod', [join(folder, 'dev/null'), 'c', '1', '3'])
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0::/home/user:/bin/sh\n')
  // Scripts begin with "#!/usr/bin/env node".
  for (const path of [process.execPath, '/usr/bin/env']) await bring(folder, path)
  if (process.execPath !== '/usr/bin/node') {
    await symlink(process.execPath, join(folder, 'usr/bin/node'))
  }

  const machine = await makeMachine(t, 'clean')
  // What is mounted there is gone with the command: it has mounts of its own.
  const script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
  const inside = [...machine.inside, 'sh', '-c', script, folder]
  return {
    folder,
    inside,
    run: async (...command) => {
      const [program = '', ...args] = [...inside, ...command]
      const env = { PATH: '/usr/local/bin:/usr/bin:/usr/sbin:/sbin:/bin', HOME: '/home/user' }
      return (await execute(program, args, { env })).stdout
    },
  }
}

/** Brings a program, with the libraries that it is linked to. */
async function bring(root: string, program: string): Promise<void> {
  const { stdout } = await execute('ldd', [program])
  const libraries = [...stdout.matchAll(/(?:^\s*|=> )(\/\S+) \(/gm)].map(([, path = '']) => path)
  for (const path of [program, ...libraries]) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await cp(path, join(root, path), { dereference: true })
  }
}
