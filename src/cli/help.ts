/**
 * Explains commands; `clipgate help`, and every `--help`.
 *
 * @module
 */

import type { OptionSpec } from './arguments.ts'
import { UsageError, type Invocation } from './command.ts'
import { COMMANDS, isCommandName, takesSettings } from './commands.ts'
import { SETTING_OPTIONS } from './setting-options.ts'
import { print } from './shell.ts'

export async function runHelp({ shell, args }: Invocation): Promise<number> {
  const [name] = args.operands
  const text = name === undefined ? overview() : explain(name)
  if (text === undefined) {
    throw new UsageError([
      'Cannot explain that command: there is none of this name; see "clipgate help"',
    ])
  }
  print(shell, text)
  return 0
}

/** Help about everything. */
export function overview(): string {
  const rows = Object.values(COMMANDS).map(({ usage, summary }) => [usage, summary] as const)
  return [
    'clipgate: one clipboard across desktop and phone',
    '',
    'Usage: clipgate COMMAND [OPTIONS]',
    '',
    ...columns(rows),
    '',
    ...wrap('See "clipgate COMMAND --help". Start with "clipgate serve".', WIDTH),
    'Exit codes: 0 done, 1 failed, 2 called wrongly.',
  ].join('\n')
}

/** Help about one command; `undefined` when there is none of this name. */
export function explain(name: string): string | undefined {
  if (!isCommandName(name)) return undefined
  const { usage, summary, details, options } = COMMANDS[name]
  const hasSettings = takesSettings(name)
  // Every setting counts for every command that opens the data directory; these do for most calls.
  const shown = Object.entries(hasSettings ? SETTING_OPTIONS : {})
  const settings = shown.filter(([option]) => name === 'serve' || USUAL_SETTINGS.includes(option))
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  return [
    `Usage: clipgate ${usage}${Object.keys(options).length > 0 ? ' [OPTIONS]' : ''}`,
    '',
    ...wrap(details === undefined ? sentence : `${sentence} ${details}`, WIDTH),
    ...section('Options', columns(Object.entries(options).map(describe))),
    ...section('Settings', columns(settings.map(describe))),
    ...(hasSettings ? ['', ...wrap(name === 'serve' ? SETTING_NOTES : MORE_SETTINGS, WIDTH)] : []),
  ].join('\n')
}

/** Fits every terminal. */
const WIDTH = 80

/** Of the first column, with its indent and gap. */
const LEFT = 28

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

function describe([name, { placeholder, meaning }]: readonly [string, OptionSpec]): readonly [
  string,
  string,
] {
  return [placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`, meaning]
}

/** Two columns; what is too long for the first has a line to itself. */
function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrap(right, WIDTH - LEFT).map((line) => ' '.repeat(LEFT) + line)
    const start = `  ${left}`
    return start.length > LEFT - 2
      ? [start, first, ...rest]
      : [start.padEnd(LEFT) + first.trimStart(), ...rest]
  })
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines.splice(-1, 1, word)
    else if (line.length + 1 + word.length <= width) lines.splice(-1, 1, `${line} ${word}`)
    else lines.push(word)
  }
  return lines
}
