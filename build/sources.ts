/** Packages of others: each is the one whose checksum is known, wherever it comes from. @module */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A package with its checksum. */
export interface Source {
  readonly name: string
  readonly version: string
  /** As `package-lock.json` has it. */
  readonly integrity: string
}

/** What a file of a package may have at most, in bytes. */
const MAX_BYTES = 2 ** 28

/**
 * Reads a file of a package of npm, which is asked for it the first time.
 *
 * @throws {Error} when npm has something else, or cannot be reached.
 */
export function readFromNpm(project: string, source: Source, path: string): Buffer {
  const input = readSource(project, 'npm', source, (folder) => {
    const args = ['pack', '--silent', `${source.name}@${source.version}`]
    execFileSync('npm', [...args, '--pack-destination', folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  })
  return execFileSync('tar', ['-xzO', `package/${path}`], { input, maxBuffer: MAX_BYTES })
}

/**
 * Reads a file of a package of Debian, from the archive that apt uses the first time.
 *
 * @param pool Where the archive has the package, such as `main/g/glibc/libc6_1.0_amd64.deb`.
 * @throws {Error} when the archive has it no more, or cannot be reached.
 */
export function readFromDebian(
  project: string,
  source: Source,
  { pool, path }: { readonly pool: string; readonly path: string },
): Buffer {
  const input = readSource(project, 'debian', source, (folder) => {
    const format = ['--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian']
    const sites = execFileSync('apt-get', ['indextargets', ...format], { encoding: 'utf8' })
    const [site = ''] = sites.split('\n')
    const file = join(folder, 'package.deb')
    execFileSync('curl', ['-fsSL', '--retry', '3', '-o', file, `${site}/pool/${pool}`])
  })
  const options = { maxBuffer: MAX_BYTES }
  const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', '-'], { input, ...options })
  return execFileSync('tar', ['-xO', `./${path}`], { input: tar, ...options })
}

/** @param get Puts the package into a folder. */
function readSource(
  project: string,
  from: string,
  { name, version, integrity }: Source,
  get: (folder: string) => void,
): Buffer {
  const folder = join(project, `node_modules/.cache/from-${from}`, `${name}-${version}`)
  if (!existsSync(folder)) {
    rmSync(`${folder}.new`, { recursive: true, force: true })
    mkdirSync(`${folder}.new`, { recursive: true })
    get(`${folder}.new`)
    renameSync(`${folder}.new`, folder)
  }
  const [file = ''] = readdirSync(folder)
  const content = readFileSync(join(folder, file))
  const digest = `sha512-${createHash('sha512').update(content).digest('base64')}`
  if (digest !== integrity) throw new Error(`${name} ${version} is not what it was: ${file}`)
  return content
}
