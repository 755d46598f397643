/**
 * Gets Debian's Node for another processor, with all that it needs, into a folder of its own.
 *
 * `node get-debian-node.ts ARCHITECTURE FOLDER`, on Debian: its archive is the one that apt uses.
 * @module
 */

import { createHash } from 'node:crypto'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execute } from '../support/execute.ts'

const RELEASE = 'trixie'

const [architecture = '', folder = ''] = process.argv.slice(2)
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
await symlink('usr/lib', join(folder, 'lib'))

const format = ['--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian']
const [archive = ''] = (await execute('apt-get', ['indextargets', ...format])).stdout.split('\n')

const list = join(folder, 'Packages.xz')
await writeFile(list, await get(`dists/${RELEASE}/main/binary-${architecture}/Packages.xz`))
const { stdout } = await execute('xz', ['--decompress', '--stdout', list], { maxBuffer: 2 ** 28 })
const packages = new Map<string, ReadonlyMap<string, string>>()
for (const paragraph of stdout.split('\n\n')) {
  const fields = new Map(
    paragraph.split('\n').map((line) => line.split(': ', 2) as [string, string]),
  )
  const provided = (fields.get('Provides') ?? '').split(', ').map(nameOf)
  for (const name of provided) if (!packages.has(name)) packages.set(name, fields)
  packages.set(fields.get('Package') ?? '', fields)
}

const needed = new Set<ReadonlyMap<string, string>>()
require('nodejs')
for (const fields of needed) {
  const path = fields.get('Filename') ?? ''
  const content = await get(path)
  const digest = createHash('sha256').update(content).digest('hex')
  if (digest !== fields.get('SHA256')) throw new Error(`${path} is not what the list says`)
  const file = join(folder, 'package.deb')
  await writeFile(file, content)
  await execute('dpkg-deb', ['--extract', file, folder])
}

function require(name: string): void {
  const fields = packages.get(name)
  // What runs Corepack, which nobody asks for, needs most of what there is.
  if (name === '' || fields === undefined || needed.has(fields) || name === 'node-corepack') return
  needed.add(fields)
  for (const one of (fields.get('Depends') ?? '').split(', ')) require(nameOf(one))
}

/** The name in `libc6 (>= 2.38) | other`. */
function nameOf(dependency: string): string {
  return dependency.split(/[ :|]/, 1)[0] ?? ''
}

async function get(path: string): Promise<Buffer> {
  const { stdout } = await execute('curl', ['-fsSL', '--retry', '3', `${archive}/${path}`], {
    encoding: 'buffer',
    maxBuffer: 2 ** 28,
  })
  return stdout
}
