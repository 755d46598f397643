/** Explains commands; `clipgate help`, every `--help`, and the version. @module */

import { readVersion } from '../daemon/version.ts'
import type { OptionSpec } from './arguments.ts'
import { UsageError, type Command, type Invocation } from './command.ts'
import { SETTING_OPTIONS } from './setting-options.ts'
import { print } from './shell.ts'
import { formatPairs, wrap } from './text-table.ts'

type Commands = Readonly<Record<string, Command>>

/** Runs `clipgate help`. */
export async function runHelp({ shell, args }: Invocation, commands: Commands): Promise<number> {
  const [name] = args.operands
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (name === undefined) print(shell, overview(commands))
  else if (command !== undefined) print(shell, explain(name, command))
  else {
    const problem = 'Cannot explain that command: there is none of this name; see "clipgate help"'
    throw new UsageError([problem])
  }
  return 0
}

/** Runs `clipgate version`. */
export async function runVersion({ shell }: Invocation): Promise<number> {
  print(shell, `clipgate ${readVersion()}`)
  return 0
}

/** Help about everything. */
export function overview(commands: Commands): string {
  const rows = Object.values(commands).map(({ usage, summary }) => [usage, summary] as const)
  return [
    'clipgate: one clipboard across desktop and phone',
    '',
    'Usage: clipgate COMMAND [OPTIONS]',
    '',
    ...formatPairs(rows),
    '',
    ...wrap('See "clipgate COMMAND --help". Start with "clipgate serve".'),
    'Exit codes: 0 done, 1 failed, 2 called wrongly.',
  ].join('\n')
}

/** Help about one command. */
export function explain(name: string, command: Command): string {
  const { usage, summary, details, options } = command
  const hasSettings = command.settings !== 'none'
  // Every setting counts for every command that opens the data directory; these do for most calls.
  const shown = Object.entries(hasSettings ? SETTING_OPTIONS : {})
  const settings = shown.filter(([option]) => name === 'serve' || USUAL_SETTINGS.includes(option))
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  return [
    `Usage: clipgate ${usage}${Object.keys(options).length > 0 ? ' [OPTIONS]' : ''}`,
    '',
    ...wrap(details === undefined ? sentence : `${sentence} ${details}`),
    ...section('Options', formatPairs(Object.entries(options).map(describe))),
    ...section('Settings', formatPairs(settings.map(describe))),
    ...(hasSettings ? ['', ...wrap(name === 'serve' ? SETTING_NOTES : MORE_SETTINGS)] : []),
  ].join('\n')
}

const SETTING_NOTES =
  'A setting has one name in three spellings: --data-dir as an option, CLIPGATE_DATA_DIR in the ' +
  'environment, "dataDir" in the config file. An option beats the environment, which beats the ' +
  'file. Sizes are bytes, or 16KiB, 16MiB, 10GiB; durations are seconds, or 500ms, 8s, 5m, 1h, ' +
  '1d. Lists take commas, or the option again; --no-headless switches a flag off.'

const USUAL_SETTINGS: readonly string[] = ['data-dir', 'config']

const MORE_SETTINGS = 'All other settings are taken too: see "clipgate help serve".'

function section(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${heading}:`, ...lines]
}

function describe([name, { placeholder, meaning }]: readonly [string, OptionSpec]) {
  return [placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`, meaning] as const
}
