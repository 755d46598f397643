/**
 * Runs one command: finds it, reads its arguments, and answers for its failures.
 *
 * Whatever goes wrong becomes one line on stderr for each problem, and the exit code: 1 failed,
 * 2 called wrongly.
 *
 * @module
 */

import { parseArguments, type OptionSpec } from './arguments.ts'
import { CommandError, UsageError } from './command.ts'
import {
  COMMANDS,
  isCommandName,
  isSettingsCommand,
  takesSettings,
  type CommandName,
} from './commands.ts'
import { explain, overview } from './help.ts'
import { Printing } from './printing.ts'
import { explainFailure } from './remedies.ts'
import { runServe } from './serve.ts'
import { readSettings, SETTING_OPTIONS } from './setting-options.ts'
import { complain, print, type Shell } from './shell.ts'

const FAILED = 1
const CALLED_WRONGLY = 2

const HELP: Readonly<Record<string, OptionSpec>> = {
  help: { placeholder: undefined, meaning: 'explain this command' },
}

/**
 * Resolves when what was printed was taken over, or has failed.
 *
 * @returns The exit code. Never rejects.
 */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  const printing = new Printing(shell)
  try {
    const code = await dispatch(argv, shell)
    await printing.end()
    return code
  } catch (error) {
    for (const line of linesOf(error)) complain(shell, line)
    // The error says what failed; what was printed before it should still get out.
    await printing.failure()
    return error instanceof UsageError ? CALLED_WRONGLY : FAILED
  } finally {
    printing.close()
  }
}

async function dispatch([name, ...rest]: readonly string[], shell: Shell): Promise<number> {
  if (name === undefined) {
    print(shell, overview())
    throw new UsageError(['Cannot run without a command: choose one of those above'])
  }
  if (name === '--help' || name === '-h') return dispatch(['help'], shell)
  if (name === '--version' || name === '-V') return dispatch(['version'], shell)
  if (isCommandName(name)) return run(name, rest, shell)
  // Quoted only when it can be a command: people paste links and passwords in wrong places.
  const what = /^[a-z]{1,12}$/.test(name) ? `"${name}"` : 'that'
  throw new UsageError([`Cannot run ${what}: there is no such command; see "clipgate help"`])
}

async function run(name: CommandName, rest: readonly string[], shell: Shell): Promise<number> {
  const settingOptions = takesSettings(name) ? SETTING_OPTIONS : {}
  const specs = { ...settingOptions, ...COMMANDS[name].options, ...HELP }
  const parsed = parseArguments(rest, specs)
  if (parsed.flag('help')) {
    print(shell, explain(name) ?? '')
    return 0
  }
  const args = parsed.withProblems(countProblems(name, parsed.operands.length))
  if (isSettingsCommand(name)) {
    const settings = readSettings(args, shell)
    if (name === 'serve') return runServe({ shell, args, settings })
    const { OTHER_SETTINGS_COMMANDS } = await import('./other-commands.ts')
    return OTHER_SETTINGS_COMMANDS[name]({ shell, args, settings })
  }
  if (args.problems.length > 0) throw new UsageError(args.problems)
  const { PLAIN_COMMANDS } = await import('./other-commands.ts')
  return PLAIN_COMMANDS[name]({ shell, args })
}

function countProblems(name: CommandName, count: number): readonly string[] {
  const { usage, operands } = COMMANDS[name]
  const [min, max] = operands
  if (count >= min && count <= max) return []
  // What is too many is not quoted: it may be a link or a password in the wrong place.
  const problem = count < min ? 'something is missing' : 'there is an argument too many'
  return [`Cannot run "${name}": ${problem}; usage: clipgate ${usage}`]
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof UsageError) return error.problems
  if (error instanceof CommandError) return error.message.split('\n')
  return [explainFailure(error)]
}
