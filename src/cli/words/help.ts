/** Explains commands: `clipgate help`, every `--help`, the manual page; and the version. @module */

import { closest } from '../../lib/closest.ts'
import { readVersion } from '../../daemon/version.ts'
import type { OptionSpec } from '../arguments.ts'
import { UsageError, type Command, type Invocation } from '../command.ts'
import { SETTING_OPTIONS } from '../setting-options.ts'
import { columnsOf, print } from '../shell.ts'
import { formatPairs, wrap } from '../text-table.ts'

type Commands = Readonly<Record<string, Command>>

/** Runs `clipgate help`. */
export async function runHelp({ shell, args }: Invocation, commands: Commands): Promise<number> {
  const [name] = args.operands
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (args.flag('man')) print(shell, formatManPage(commands))
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

const USUAL_SETTINGS: readonly string[] = ['data-dir', 'config']

const EXIT_CODES = '0 done, 1 failed, 2 called wrongly; "status" has 3 while no daemon runs.'

/** The sentences that explain a command. */
export function explanationOf({ summary, details }: Command): string {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  return details === undefined ? sentence : `${sentence} ${details}`
}

/** The settings that are worth a place beside the options of a command. */
export function shownSettings(
  name: string,
  { settings }: Command,
): Readonly<Record<string, OptionSpec>> {
  if (settings === 'none') return {}
  if (name === 'serve') return SETTING_OPTIONS
  // Every setting counts for every command that opens the data directory; these do for most calls.
  const usual = ([option]: readonly [string, OptionSpec]) => USUAL_SETTINGS.includes(option)
  return Object.fromEntries(Object.entries(SETTING_OPTIONS).filter(usual))
}

export const SETTING_NOTES: string =
  'A setting has one name in three spellings: --data-dir as an option, CLIPGATE_DATA_DIR in the ' +
  'environment, "dataDir" in the config file. An option beats the environment, which beats the ' +
  'file. Sizes are bytes, or 16KiB, 16MiB, 10GiB; durations are seconds, or 500ms, 8s, 5m, 1h, ' +
  '1d. Lists take commas, or the option again; --no-headless switches a flag off.'

/** Formats a page of section 1, for the macros that troff calls `man`. */
function formatManPage(commands: Readonly<Record<string, Command>>): string {
  return [
    `.TH CLIPGATE 1 "" "clipgate ${readVersion()}" "User Commands"`,
    '.SH NAME',
    'clipgate \\- one clipboard across desktop and phone',
    '.SH SYNOPSIS',
    '.B clipgate',
    '.I COMMAND',
    '[\\fIOPTIONS\\fR]',
    '.SH DESCRIPTION',
    plain(DESCRIPTION),
    '.SH COMMANDS',
    ...Object.values(commands).flatMap((command) => [
      `.SS "${plain(command.usage)}"`,
      plain(explanationOf(command)),
      ...Object.entries(command.options).flatMap(describeAsTroff),
    ]),
    '.SH SETTINGS',
    plain(SETTING_NOTES),
    ...Object.entries(SETTING_OPTIONS).flatMap(describeAsTroff),
    '.SH EXIT STATUS',
    plain(EXIT_CODES),
    '.SH FILES',
    ...FILES.flatMap(([path, meaning]) => item(`\\fI${plain(path)}\\fR`, meaning)),
  ].join('\n')
}

const DESCRIPTION =
  'A small daemon on the desktop serves phones on the local network: what is copied here is ' +
  'pasted there, and back. It speaks the protocol of SyncClipboard. Start with "clipgate serve".'

const FILES: readonly (readonly [string, string])[] = [
  ['~/.config/clipgate/config.json', 'The settings, as one JSON object.'],
  ['~/.local/state/clipgate/', 'The data directory: devices, and the current item.'],
]

function describeAsTroff([name, { placeholder, meaning }]: readonly [
  string,
  OptionSpec,
]): readonly string[] {
  const value = placeholder === undefined ? '' : ` \\fI${plain(placeholder)}\\fR`
  const sentence = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`
  return item(`\\fB${plain(`--${name}`)}\\fR${value}`, sentence)
}

function item(term: string, text: string): readonly string[] {
  return ['.TP', term, plain(text)]
}

/** Text without anything that troff would obey, the dots and quotes that begin a line included. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^[.']/, '\\&$&')
}
