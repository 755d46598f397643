/**
 * Gets packages of Debian, with all that they need, into a folder of its own. They are as they were
 * packed, and dpkg there knows them.
 *
 * `node get-debian.ts RELEASE ARCHITECTURE FOLDER PACKAGE...`, on Debian: its archive is the one
 * that apt uses.
 * @module
 */

import { createHash } from 'node:crypto'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execute } from '../support/execute.ts'

const [release = '', architecture = '', target = '', ...wanted] = process.argv.slice(2)
const folder = `${target}.new`
await rm(folder, { recursive: true, force: true })
await mkdir(join(folder, 'usr/lib'), { recursive: true })
// Before 13, packages have files in both.
if (release !== 'bookworm') await symlink('usr/lib', join(folder, 'lib'))

const format = ['--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian']
const [archive = ''] = (await execute('apt-get', ['indextargets', ...format])).stdout.split('\n')

const list = join(folder, 'Packages.xz')
await writeFile(list, await get(`dists/${release}/main/binary-${architecture}/Packages.xz`))
const { stdout } = await execute('xz', ['--decompress', '--stdout', list], { maxBuffer: 2 ** 28 })
const packages = new Map<string, ReadonlyMap<string, string>>()
const status: string[] = []
for (const paragraph of stdout.split('\n\n')) {
  const fields = new Map(
    paragraph.split('\n').map((line) => line.split(': ', 2) as [string, string]),
  )
  const provided = (fields.get('Provides') ?? '').split(', ').map(nameOf)
  for (const name of provided) if (!packages.has(name)) packages.set(name, fields)
  packages.set(fields.get('Package') ?? '', fields)
}

const needed = new Set<ReadonlyMap<string, string>>()
for (const name of wanted) require(name)
for (const fields of needed) {
  const path = fields.get('Filename') ?? ''
  const content = await get(path)
  const digest = createHash('sha256').update(content).digest('hex')
  if (digest !== fields.get('SHA256')) throw new Error(`${path} is not what the list says`)
  const file = join(folder, 'package.deb')
  await writeFile(file, content)
  await execute('dpkg-deb', ['--extract', file, folder])
  const known = ['Package', 'Architecture', 'Version', 'Maintainer', 'Description', 'Multi-Arch']
  const lines = known.flatMap((name) => (fields.has(name) ? [`${name}: ${fields.get(name)}`] : []))
  status.push(`${['Status: install ok installed', ...lines].join('\n')}\n\n`)
}
await rm(list)
await rm(join(folder, 'package.deb'))
const database = join(folder, 'var/lib/dpkg')
for (const name of ['info', 'updates']) await mkdir(join(database, name), { recursive: true })
await writeFile(join(database, 'status'), status.join(''))
await rm(target, { recursive: true, force: true })
await rename(folder, target)

function require(name: string): void {
  const fields = packages.get(name)
  // What runs Corepack, which nobody asks for, needs most of what there is.
  if (name === '' || fields === undefined || needed.has(fields) || name === 'node-corepack') return
  needed.add(fields)
  for (const field of ['Pre-Depends', 'Depends']) {
    for (const one of (fields.get(field) ?? '').split(', ')) require(nameOf(one))
  }
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
