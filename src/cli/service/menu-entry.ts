/**
 * The entry in the menu of a desktop, for a program that npm has installed, or that was unpacked
 * where no menu looks. Other packages bring theirs.
 * @module
 */

import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import type { Surroundings } from '../../daemon/folders.ts'
import { packageFolder } from '../../daemon/package-files.ts'
import { hasCode } from '../../lib/system-error.ts'
import { fillRecipe, type Program } from './manager.ts'

const PATH = 'applications/clipgate.desktop'

/** Begins a file that is ours, to be replaced and removed. */
const MARK = '# Written by "clipgate service install", and removed by "clipgate service remove".\n'

/** Where desktops look when nothing tells them (XDG Base Directory Specification). */
const USUAL = '/usr/local/share:/usr/share'

/** Writes the entry, and takes away an earlier one that is not needed any more. */
export async function installMenuEntry(where: Surroundings, program: Program): Promise<void> {
  await removeMenuEntry(where)
  const [own = '', ...others] = folders(where)
  const brought = join(packageFolder(), '../../share')
  const isBrought = [own, ...others].includes(brought) && existsSync(join(brought, PATH))
  if (isBrought) return
  // The library of GNOME looks for a first word before it has read `%%` as `%`.
  const words = [program.node, program.main].map(quote).join(' ')
  const icon = join(packageFolder(), 'dist/clipgate-files/phone/icon-192.png')
  const entry = await fillRecipe('menu/clipgate.desktop', {
    'Exec=clipgate': `TryExec=${escapeValue(program.node)}\nExec=env ${words}`,
    'Icon=clipgate': `Icon=${escapeValue(icon)}`,
  })
  await mkdir(dirname(join(own, PATH)), { recursive: true })
  await writeFile(join(own, PATH), MARK + entry)
}

/** Removes what was written. */
export async function removeMenuEntry(where: Surroundings): Promise<void> {
  const path = join(folders(where)[0] ?? '', PATH)
  try {
    if ((await readFile(path, 'utf8')).startsWith(MARK)) await rm(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Where entries are: that of the user, and those of all. */
function folders({ environment, home }: Surroundings): readonly string[] {
  const own = environment['XDG_DATA_HOME'] ?? ''
  const all = (environment['XDG_DATA_DIRS'] || USUAL).split(delimiter)
  return [isAbsolute(own) ? own : join(home, '.local/share'), ...all.map((path) => join(path))]
}

/** Quotes an argument of `Exec`: first for the list of words, then for the value of a key. */
function quote(word: string): string {
  const quoted = word.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%')
  return `"${escapeValue(quoted)}"`
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\')
}
