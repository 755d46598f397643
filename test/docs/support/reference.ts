/**
 * The parts of docs/commands.md and docs/settings.md that are made from the help of the program. Run
 * as a program it writes them.
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OptionSpec } from '../../../src/cli/arguments.ts'
import { JSON_FLAG, type Command } from '../../../src/cli/command.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { SETTING_OPTIONS } from '../../../src/cli/setting-options.ts'
import { wrap } from '../../../src/cli/text-table.ts'
import { explanationOf, SETTING_NOTES } from '../../../src/cli/words/help.ts'

/** The pages below docs/, and what the program says between the marks of each. */
export const REFERENCE: Readonly<Record<string, string>> = {
  'commands.md': formatCommands(Object.values(COMMANDS)),
  'settings.md': [table(Object.entries(SETTING_OPTIONS)), '', ...wrap(SETTING_NOTES, 100)].join(
    '\n',
  ),
}

const MARKS = /(?<=^<!-- From the program: make reference -->\n)[^]*?(?=\n<!-- To here -->$)/m

/** Reads a page, and the page as it should be. */
export function readReference(name: string): { readonly page: string; readonly expected: string } {
  const page = readFileSync(urlOf(name), 'utf8')
  return { page, expected: page.replace(MARKS, () => `\n${REFERENCE[name] ?? ''}\n`) }
}

function formatCommands(commands: readonly Command[]): string {
  const withoutJson = commands.filter(({ options }) => options['json'] === undefined)
  const names = withoutJson.map(({ usage }) => `\`${usage.replace(/ .*/, '')}\``).join(', ')
  const rows = commands.flatMap((command) => [
    row(`**\`${command.usage}\`**`, explanationOf(command)),
    ...optionRows(Object.entries(command.options).filter(([, spec]) => spec !== JSON_FLAG['json'])),
  ])
  const json = row('`--json`', `${JSON_FLAG['json']?.meaning}; of all but ${names}`)
  return ['| | |', '|---|---|', ...rows, json].join('\n')
}

function table(options: readonly (readonly [string, OptionSpec])[]): string {
  return ['| setting | |', '|---|---|', ...optionRows(options)].join('\n')
}

function optionRows(options: readonly (readonly [string, OptionSpec])[]): readonly string[] {
  return options.map(([name, { placeholder, meaning }]) =>
    row(`\`--${name}${placeholder === undefined ? '' : ` ${placeholder}`}\``, meaning),
  )
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function urlOf(name: string): URL {
  return new URL(`../../../docs/${name}`, import.meta.url)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(REFERENCE))
    writeFileSync(urlOf(name), readReference(name).expected)
}
