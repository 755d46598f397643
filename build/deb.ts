/** The package for Debian and its relatives: the program, its units, and no script. @module */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatAr, formatTarGz, type Entry, type FileEntry } from './archive.ts'
import { programFiles } from './contents.ts'
import type { Inside } from './nodes.ts'
import { readManifest } from './parts.ts'

/** Recipes, where systemd looks for them, and where they expect the program. */
const UNITS: readonly (readonly [recipe: string, path: string, program?: string])[] = [
  ['user/clipgate.service', 'systemd/user/clipgate.service', '%h/.local/bin/clipgate'],
  ['system/clipgate.service', 'systemd/system/clipgate.service', '/usr/local/bin/clipgate'],
  ['sysusers.d/clipgate.conf', 'sysusers.d/clipgate.conf'],
]

/** What its Node was linked against. */
const LIBRARIES = 'libc6 (>= 2.28), libstdc++6 (>= 6)'

/** Formats the package. @param inside The Node that it has; without one it needs Debian's. */
export function formatDeb(project: string, inside?: Inside): Buffer {
  const place = { prefix: 'usr/', zsh: 'vendor-completions', inside }
  const files = [...programFiles(project, place), ...unitFiles(project)]
  const control = [
    { path: 'control', content: Buffer.from(controlText(project, files, inside)) },
    { path: 'md5sums', content: Buffer.from(sums(files)) },
  ]
  return formatAr([
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', formatTarGz(control, './')],
    ['data.tar.gz', formatTarGz(files, './')],
  ])
}

function unitFiles(project: string): readonly FileEntry[] {
  return UNITS.map(([recipe, path, program]) => {
    const text = readFileSync(join(project, 'deploy/systemd', recipe), 'utf8')
    if (program !== undefined && !text.includes(`ExecStart=${program} `)) {
      throw new Error(`deploy/systemd/${recipe} does not start ${program}`)
    }
    const installed = program === undefined ? text : text.replaceAll(program, '/usr/bin/clipgate')
    return { path: `usr/lib/${path}`, content: Buffer.from(installed) }
  })
}

function controlText(project: string, files: readonly Entry[], inside?: Inside): string {
  const { version, description } = readManifest(project)
  const kibibytes = files.map((file) => ('content' in file ? file.content.length / 1024 : 1))
  const size = kibibytes.reduce((sum, each) => sum + Math.ceil(each), 0)
  return `Package: clipgate
Version: ${version.replace('-', '~')}
Architecture: ${inside?.debian ?? 'all'}
Maintainer: the clipgate contributors
Installed-Size: ${size}
Depends: ${inside === undefined ? 'nodejs (>= 20.19)' : LIBRARIES}
Suggests: wl-clipboard
Section: net
Priority: optional
Description: ${description}
 A small daemon on the desktop serves phones on the local network: what is
 copied here is pasted there, and back. It speaks the protocol of
 SyncClipboard.
`
}

function sums(files: readonly Entry[]): string {
  const lines = files.map((file) =>
    'content' in file
      ? `${createHash('md5').update(file.content).digest('hex')}  ${file.path}\n`
      : '',
  )
  return lines.join('')
}
