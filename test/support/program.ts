/**
 * How tests start programs of this project in processes of their own.
 * @module
 */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Newer test runners add dozens of options of their own to `process.execArgv`. */
const given = process.execArgv.flatMap((option, index, all) =>
  option === '--import'
    ? [option, all[index + 1] ?? '']
    : option.startsWith('--import=')
      ? [option]
      : [],
)

/** The options with which this Node reads our sources: `--import tsx`, or none. */
export const LOADER: readonly string[] =
  given.length > 0 || Object(process.features).typescript ? given : ['--import', 'tsx']

/** The program as it was built; `undefined` where the sources have changed since, and for coverage. */
export const BUILT: string | undefined = isBuilt() ? join(ROOT, 'dist/cli/main.js') : undefined

/**
 * What follows `node` to run clipgate, before its own arguments: the program as it was built, which
 * starts in a fifth of the time, or the sources.
 */
export const PROGRAM: readonly string[] =
  BUILT === undefined ? [...LOADER, join(ROOT, 'src/cli/main.ts')] : [BUILT]

/** Whether `dist/` is what `make build` would make of the sources as they are. */
function isBuilt(): boolean {
  if (process.env['NODE_V8_COVERAGE'] !== undefined) return false
  const built = statSync(join(ROOT, 'dist/cli/main.js'), { throwIfNoEntry: false })
  if (built === undefined) return false
  const read = ['src', 'build'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  )
  return ['package.json', ...read].every(
    (path) => statSync(join(ROOT, path)).mtimeMs < built.mtimeMs,
  )
}
