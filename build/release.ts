/**
 * `make release`: writes `release/` from `dist/`, with nothing that depends on who makes it, when
 * and where. docs/guides/verify.md says how it is verified.
 * @module
 */

import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compress, formatTar } from './archive.ts'
import { npmFiles, programFiles } from './contents.ts'
import { formatDeb } from './deb.ts'
import { formatPartsList, readManifest, readParts } from './parts.ts'

const project = join(import.meta.dirname, '..')
const folder = join(project, 'release')
const manifest = readManifest(project)
const parts = readParts(project)
const name = `clipgate-${manifest.version}`

const files: readonly (readonly [name: string, content: Uint8Array])[] = [
  [`${name}.tgz`, compress(formatTar(npmFiles(project), 'package/'))],
  [`clipgate_${manifest.version}_all.deb`, formatDeb(project)],
  [
    `${name}-linux.tar.gz`,
    compress(formatTar(programFiles(project, { prefix: '', zsh: 'site-functions' }), `${name}/`)),
  ],
  [`${name}.cdx.json`, Buffer.from(formatPartsList(manifest, parts))],
]

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const sums = files.map(([file, content]) => {
  writeFileSync(join(folder, file), content)
  return `${createHash('sha256').update(content).digest('hex')}  ${file}\n`
})
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))
