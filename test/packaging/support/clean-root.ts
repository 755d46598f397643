/**
 * A machine with Node and nothing else, with Debian 12 and no Node, or with what an image has: a root
 * folder of its own, and a network without a way out.
 * @module
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { makeMachine, needsMachines, type Machine } from '../../support/machines.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { execute } from '../../support/execute.ts'
import { PROJECT } from './make-release.ts'
import { without } from '../../support/requirements.ts'

/** Options for `it()`. */
export function needsCleanRoot(): { readonly skip: string | false } {
  return needsMachines('chroot', 'ldd', 'dpkg', 'tar', 'make')
}

/** The kernel has them by the beginning of a program. */
const FORMATS = '/proc/sys/fs/binfmt_misc'

/** For Linux on arm64, and that its file is opened now, and not where the program runs. */
const ARM64 = String.raw`M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64:F`

/** What `make debian-12` gets. */
function debianOf(processor: string): string {
  const folder = join(PROJECT, 'node_modules/.cache/debian-12')
  return processor === process.arch ? folder : `${folder}-${processor}`
}

/** Options for `it()`. @param processor As Node calls it; one of another kind is emulated. */
export function needsDebianRoot(processor: string): { readonly skip: string | false } {
  const emulator = processor === process.arch ? [] : ['qemu-aarch64']
  const { skip } = needsMachines('chroot', 'tar', 'make', 'npm', ...emulator)
  if (skip !== false || existsSync(debianOf(processor))) return { skip }
  return without(`the libraries of Debian 12 for ${processor}: make debian-12`)
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
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0::/home/user:/bin/sh\n')
  // Scripts begin with "#!/usr/bin/env node".
  for (const path of [process.execPath, '/usr/bin/env']) await bring(folder, path)
  if (process.execPath !== '/usr/bin/node') {
    await symlink(process.execPath, join(folder, 'usr/bin/node'))
  }
  return enter(folder, (await makeMachine(t, 'clean')).inside)
}

const USER = 1000

/** Makes a root with the libraries and dpkg of Debian 12, as root and as a user sees it. */
export async function makeDebianRoot(
  t: TestContext,
  processor: string,
): Promise<{ readonly root: CleanRoot; readonly user: CleanRoot }> {
  const folder = await makeFolder(t)
  await execute('cp', ['-a', `${debianOf(processor)}/.`, folder])
  await emulate(t, folder, processor)
  const lines = ['root:x:0:0::/root:/bin/sh', `user:x:${USER}:${USER}::/home/user:/bin/sh`]
  await writeFile(join(folder, 'etc/passwd'), `${lines.join('\n')}\n`)
  await chown(join(folder, 'home/user'), USER, USER)
  const { inside } = await makeMachine(t, 'debian')
  const asUser = `--userspec=${USER}:${USER}`
  return { root: enter(folder, inside), user: enter(folder, inside, asUser) }
}

/** How the image says that it is to be run. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Cmd: readonly string[]
  readonly Volumes: object
}

/** What is named by its content. */
interface Named {
  readonly digest: string
  readonly size: number
}

/** Unpacks the layout of an image of one processor, as an engine does, and nothing beside it. */
export async function makeImageRoot(
  t: TestContext,
  archive: string,
  processor: string,
): Promise<{ readonly root: CleanRoot; readonly machine: Machine; readonly config: ImageConfig }> {
  const [layout, folder] = [await temporaryFolder(t), await temporaryFolder(t)]
  await execute('tar', ['-xf', archive, '-C', layout])
  const parse = (content: Buffer) => JSON.parse(content.toString())
  const read = async ({ digest, size }: Named): Promise<Buffer> => {
    const content = await readFile(join(layout, 'blobs', digest.replace(':', '/')))
    assert.deepEqual([digestOf(content), content.length], [digest, size])
    return content
  }
  const version = parse(await readFile(join(layout, 'oci-layout')))
  assert.deepEqual(version, { imageLayoutVersion: '1.0.0' })
  const index = parse(await readFile(join(layout, 'index.json')))
  const [one] = parse(await read(index.manifests[0])).manifests
  const manifest = parse(await read(one))
  const { config, rootfs } = parse(await read(manifest.config))
  assert.equal(manifest.layers.length, rootfs.diff_ids.length)
  for (const [at, layer] of manifest.layers.entries()) {
    const content = gunzipSync(await read(layer))
    assert.equal(digestOf(content), rootfs.diff_ids[at])
    await writeFile(join(layout, 'layer.tar'), content)
    await execute('tar', ['-xpf', join(layout, 'layer.tar'), '--numeric-owner', '-C', folder])
  }
  await mkdir(join(folder, 'proc'))
  await emulate(t, folder, processor)
  const machine = await makeMachine(t, 'image')
  return { root: enter(folder, machine.inside, `--userspec=${config.User}`), machine, config }
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** Lets programs of another processor run in a root, with nothing there but what QEMU is linked to. */
async function emulate(t: TestContext, folder: string, processor: string): Promise<void> {
  if (processor === process.arch) return
  assert.equal(processor, 'arm64')
  if (!existsSync(join(FORMATS, 'register'))) {
    await execute('mount', ['-t', 'binfmt_misc', 'binfmt_misc', FORMATS])
  }
  const name = `clipgate-${process.pid}`
  if (!existsSync(join(FORMATS, name))) {
    await writeFile(join(FORMATS, 'register'), `:${name}:${ARM64}`)
    t.after(() => writeFile(join(FORMATS, name), '-1'))
  }
  await bring(folder, '/usr/bin/qemu-aarch64')
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const name of ['proc', 'tmp', 'dev', 'etc', 'home/user', 'usr/bin']) {
    await mkdir(join(folder, name), { recursive: true })
  }
  await execute('mknod', ['-m', '666', join(folder, 'dev/null'), 'c', '1', '3'])
  return folder
}

function enter(folder: string, network: readonly string[], option = '--userspec=0:0'): CleanRoot {
  // What is mounted there is gone with the command: it has mounts of its own.
  const script = 'as=$1; shift; mount -t proc proc "$0/proc" && exec chroot "$as" "$0" "$@"'
  const inside = [...network, 'sh', '-c', script, folder, option]
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
