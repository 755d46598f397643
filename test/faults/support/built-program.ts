/**
 * The program as it is shipped: one file, which starts in a tenth of the time of the sources.
 * @module
 */

import { chmod, copyFile, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writePages } from '../../../src/web/make-page.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const KERNELS = ['devices/argon2-kernel.wasm', 'hashing/blake3-kernel.wasm']

const WORKERS = [
  'devices/argon2-worker.js',
  'hashing/blake3-worker.js',
  'storage/blobs/unzip-worker.js',
  'storage/blobs/zip-worker.js',
]

/** Builds the program for the tests of a file; it is removed after them. @returns Its path. */
export async function buildProgram(): Promise<{ readonly main: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-program-'))
  const main = join(folder, 'main.mjs')
  await build({
    entryPoints: [join(ROOT, 'src/cli/program.ts')],
    outfile: main,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    define: { CLIPGATE_VERSION: '"0.0.0"' },
  })
  await build({
    entryPoints: [join(ROOT, 'src/desktop/windows/windows-helper.ts')],
    outfile: join(folder, 'windows-helper.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  await build({
    entryPoints: WORKERS.map((worker) => join(ROOT, 'src', worker)),
    outdir: folder,
    entryNames: '[name]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  for (const kernel of KERNELS) {
    await copyFile(join(ROOT, 'src', kernel), join(folder, basename(kernel)))
  }
  await writePages(folder)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  // Also for a daemon of another user.
  await chmod(folder, 0o755)
  after(() => rm(folder, { recursive: true }))
  return { main }
}
