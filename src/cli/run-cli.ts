/** Runs one command: finds it, reads its arguments, and answers for its failures. @module */

import { parseArguments, type OptionSpec } from './arguments.ts'
import { CommandError, UsageError, type Command } from './command.ts'
import { COMMANDS, findCommand } from './commands.ts'
import { Printing } from './printing.ts'
import { explainFailure } from './remedies.ts'
import { readSettings, SETTING_OPTIONS } from './setting-options.ts'
import { complain, print, type Shell } from './shell.ts'

const FAILED = 1
const CALLED_WRONGLY = 2

const HELP: Readonly<Record<string, OptionSpec>> = { help: { meaning: 'explain this command' } }

/** Resolves to the exit code once what was printed was taken over, or failed. Never rejects. */
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
    const { overview } = await import('./help.ts')
    print(shell, overview(COMMANDS))
    throw new UsageError(['Cannot run without a command: choose one of those above'])
  }
  if (name === '--help' || name === '-h') return dispatch(['help'], shell)
  if (name === '--version' || name === '-V') return dispatch(['version'], shell)
  const command = findCommand(name)
  if (command !== undefined) return run(name, command, rest, shell)
  // Quoted only when it can be a command: people paste links and passwords in wrong places.
  const what = /^[a-z]{1,12}$/.test(name) ? `"${name}"` : 'that'
  throw new UsageError([`Cannot run ${what}: there is no such command; see "clipgate help"`])
}

async function run(
  name: string,
  command: Command,
  rest: readonly string[],
  shell: Shell,
): Promise<number> {
  const settingOptions = command.settings === 'none' ? {} : SETTING_OPTIONS
  const parsed = parseArguments(rest, { ...settingOptions, ...command.options, ...HELP })
  if (parsed.flag('help')) {
    const { explain } = await import('./help.ts')
    print(shell, explain(name, command))
    return 0
  }
  const args = parsed.withProblems(countProblems(name, command, parsed.operands.length))
  if (command.settings === undefined) {
    return command.run({ shell, args, settings: readSettings(args, shell) })
  }
  if (args.problems.length > 0) throw new UsageError(args.problems)
  return command.run({ shell, args })
}

function countProblems(
  name: string,
  { usage, operands: [min, max] = [0, 0] }: Command,
  count: number,
): readonly string[] {
  if (count >= min && count <= max) return []
  // The argument too many is not quoted: it may be a link or a password in the wrong place.
  const problem = count < min ? 'something is missing' : 'there is an argument too many'
  return [`Cannot run "${name}": ${problem}; usage: clipgate ${usage}`]
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof UsageError) return error.problems
  if (error instanceof CommandError) return error.message.split('\n')
  return [explainFailure(error)]
}
