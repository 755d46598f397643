/**
 * What `deploy/` says, as far as a test can judge it.
 * @module
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArguments } from '../../../src/cli/arguments.ts'
import { findCommand } from '../../../src/cli/commands.ts'
import { SETTING_OPTIONS } from '../../../src/cli/setting-options.ts'
import { loadSettings } from '../../../src/daemon/load-settings.ts'
import type { Settings } from '../../../src/daemon/settings.ts'
import { execute } from '../../support/execute.ts'

export const ROOT: string = fileURLToPath(new URL('../../../', import.meta.url))

/** After the program, as the only argument of its list, or at the beginning of the arguments. */
const SERVE = /(?:clipgate"?,? |(?:MAIN|PROGRAM|main\.js)"? |>|")serve\b([^\n<\]`]*)/g

/** Paths below `deploy/` of everything that is installed somewhere. */
export const RECIPES: readonly string[] = readdirSync(join(ROOT, 'deploy'), {
  recursive: true,
  withFileTypes: true,
})
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
  .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, 'deploy/').length))
  .sort()

/** Those that start a daemon. */
export const STARTERS: readonly string[] = RECIPES.filter(
  (path) => callsOf(readRecipe(path)).length > 0,
)

export function readRecipe(path: string): string {
  return readFileSync(join(ROOT, 'deploy', path), 'utf8')
}

/** The arguments of each `serve` in a recipe or page. */
export function callsOf(text: string): readonly (readonly string[])[] {
  const code = text.replace(/<!--.*?-->/gs, '').replace(/^\s*#.*$/gm, '')
  return [...code.matchAll(SERVE)].map(([, rest = '']) =>
    rest
      .split(/[\s",]+/)
      .filter((word) => word !== '')
      .map(plain),
  )
}

/** The variables of clipgate that a recipe or page sets. */
export function variablesOf(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(/\b(CLIPGATE_[A-Z_]+)=([^\s"]*)/g)]
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, plain(value)]))
}

/** The settings of a daemon that is started so. Throws what the start would say. */
export function settingsOf(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Settings {
  const known = { ...SETTING_OPTIONS, ...findCommand('serve')?.options }
  const { values, problems, operands } = parseArguments(args, known)
  assert.deepEqual([problems, operands], [[], []])
  const options = Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => Object.hasOwn(SETTING_OPTIONS, name))
      .map(([name, value]) => [
        name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        value,
      ]),
  )
  const where = { platform: 'linux', environment, home: '/nobody' } as const
  return loadSettings({ options, where, cwd: '/' })
}

/** Something of the kind for what is only known where the recipe is used. */
function plain(word: string): string {
  return /[$%]/.test(word) ? '/somewhere' : word
}

/** Runs a few lines of Python over a text, and gives what they print, as JSON. */
export async function throughPython(lines: string, text: string): Promise<unknown> {
  const running = execute('python3', ['-c', `import json, sys\n${lines}`])
  running.child.stdin?.end(text)
  const { stdout } = await running
  return JSON.parse(stdout)
}
