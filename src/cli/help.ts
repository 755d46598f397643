/** Explains commands; `clipgate help`, every `--help`, and the version. @module */

import { closest } from '../lib/closest.ts'
import { readVersion } from '../daemon/version.ts'
import type { OptionSpec } from './arguments.ts'
import { UsageError, type Command, type Invocation } from './command.ts'
import { EXIT_CODES, explanationOf, SETTING_NOTES, shownSettings } from './explanations.ts'
import { columnsOf, print } from './shell.ts'
import { formatPairs, wrap } from './text-table.ts'

type Commands = Readonly<Record<string, Command>>

/** Runs `clipgate help`. */
export async function runHelp({ shell, args }: Invocation, commands: Commands): Promise<number> {
  const [name] = args.operands
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (args.flag('man')) print(shell, (await import('./man-page.ts')).formatManPage(commands))
  else if (name === undefined) print(shell, overview(commands, columnsOf(shell)))
  else if (command !== undefined) print(shell, explain(name, command, columnsOf(shell)))
  else {
    const meant = closest(name, Object.keys(commands))
    const hint = meant === undefined ? 'see "clipgate help"' : `did you mean "${meant}"?`
    throw new UsageError([`Cannot explain that command: there is none of this name; ${hint}`])
  }
  return 0
}

/** Runs `clipgate version`. */
export async function runVersion({ shell }: Invocation): Promise<number> {
  print(shell, `clipgate ${readVersion()}`)
  return 0
}

/** Help about everything. @param columns Those of the terminal, if there is one. */
export function overview(commands: Commands, columns: number | undefined): string {
  const rows = Object.values(commands).map(({ usage, summary }) => [usage, summary] as const)
  return [
    ...wrap('clipgate: one clipboard across desktop and phone', columns),
    '',
    'Usage: clipgate COMMAND [OPTIONS]',
    '',
    ...formatPairs(rows, columns),
    '',
    ...wrap('See "clipgate COMMAND --help". Start with "clipgate serve".', columns),
    ...wrap(`Exit codes: ${EXIT_CODES}`, columns),
  ].join('\n')
}

/** Help about one command. @param columns Those of the terminal, if there is one. */
export function explain(name: string, command: Command, columns: number | undefined): string {
  const { usage, options, examples = [] } = command
  const settings = Object.entries(shownSettings(name, command))
  const notes = name === 'serve' ? SETTING_NOTES : MORE_SETTINGS
  return [
    `Usage: clipgate ${usage}${Object.keys(options).length > 0 ? ' [OPTIONS]' : ''}`,
    '',
    ...wrap(explanationOf(command), columns),
    ...section(
      examples.length === 1 ? 'Example' : 'Examples',
      examples.map((line) => `  ${line}`),
    ),
    ...section('Options', formatPairs(Object.entries(options).map(describe), columns)),
    ...section('Settings', formatPairs(settings.map(describe), columns)),
    ...(settings.length > 0 ? ['', ...wrap(notes, columns)] : []),
  ].join('\n')
}

const MORE_SETTINGS = 'All other settings are taken too: see "clipgate help serve".'

function section(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${heading}:`, ...lines]
}

function describe([name, { placeholder, meaning }]: readonly [string, OptionSpec]) {
  return [placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`, meaning] as const
}
