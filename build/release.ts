/**
 * `make release`: writes `release/` from `dist/`, with nothing that depends on who makes it, when
 * and where. docs/guides/verify.md says how it is verified.
 *
 * Its arguments are the platforms whose packages have their Node with them, see `NODES`, and `image`
 * for one of those that are named.
 * @module
 */

import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compress, formatTar, formatTarGz, formatZip } from './archive.ts'
import { npmFiles, programFiles, windowsFiles } from './contents.ts'
import { formatDeb } from './deb.ts'
import { formatImage } from './image.ts'
import { readInside } from './nodes.ts'
import { formatPartsList, readManifest, readParts } from './parts.ts'

const project = join(import.meta.dirname, '..')
const finished = join(project, 'release')
/** What fails half way leaves the last release as it was. */
const folder = `${finished}.new`
const manifest = readManifest(project)
const parts = readParts(project)
const name = `clipgate-${manifest.version}`
const place = { prefix: '', zsh: 'site-functions' }
const sums: string[] = []

/** The folder of the program. Archives are unpacked over folders that people have already. */
const PROGRAM = 'lib/clipgate/'

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
write(`${name}.tgz`, compress(formatTar(npmFiles(project), 'package/')))
write(`clipgate_${manifest.version}_all.deb`, formatDeb(project))
write(`${name}-linux.tar.gz`, formatTarGz(programFiles(project, place), `${name}/`, PROGRAM))
write(`${name}.cdx.json`, Buffer.from(formatPartsList(manifest, parts)))
const targets = process.argv.slice(2)
for (const target of targets) await writeWithNode(target)
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
rmSync(finished, { recursive: true, force: true })
renameSync(folder, finished)
process.stdout.write(sums.join(''))

async function writeWithNode(target: string): Promise<void> {
  if (target === 'image') return write(`${name}-image.tar`, formatImage(project, targets))
  const inside = readInside(project, target)
  const root = `${name}-${target}/`
  if (target.startsWith('win32')) {
    write(`${name}-${target}.zip`, await formatZip(windowsFiles(project, inside), root))
    return
  }
  const files = programFiles(project, { ...place, inside })
  write(`${name}-${target}.tar.gz`, formatTarGz(files, root, PROGRAM))
  if (inside.debian === undefined) return
  write(`clipgate_${manifest.version}_${inside.debian}.deb`, formatDeb(project, inside))
}

function write(file: string, content: Uint8Array): void {
  writeFileSync(join(folder, file), content)
  sums.push(`${createHash('sha256').update(content).digest('hex')}  ${file}\n`)
}
