/** Runs one command: finds it, reads its arguments, and answers for its failures. @module */

import { isOption, parseArguments, type Arguments, type OptionSpec } from './arguments.ts'
import { closest } from '../lib/closest.ts'
import { CommandError, LINK, LINK_ON_STDIN, Printing, UsageError, type Command } from './command.ts'
import { SERVE } from './serve.ts'
import { readSettings, SETTING_OPTIONS } from './setting-options.ts'
import { columnsOf, complain, print, type Shell } from './shell.ts'
import { explainFailure } from './words/remedies.ts'

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
    const lines = linesOf(error)
    for (const line of lines) complain(shell, line)
    if (argv[0] === 'panel' && argv.includes('--menu')) {
      const { tellOnDesktop } = await import('../daemon/tell-on-desktop.ts')
      await tellOnDesktop(lines.join('; '))
    }
    // The error says what failed; what was printed before it should still get out.
    await printing.failure()
    return error instanceof UsageError ? CALLED_WRONGLY : FAILED
  } finally {
    printing.close()
  }
}

async function dispatch([name, ...rest]: readonly string[], shell: Shell): Promise<number> {
  if (name === 'serve') return run(name, SERVE, rest, shell)
  // The table is mostly words of the help.
  const { COMMANDS, findCommand } = await import('./commands.ts')
  if (name === undefined) {
    const { overview } = await import('./words/help.ts')
    print(shell, overview(COMMANDS, columnsOf(shell)))
    throw new UsageError(['Cannot run without a command: choose one of those above'])
  }
  if (name === '--help' || name === '-h') return dispatch(['help'], shell)
  if (name === '--version' || name === '-V') return dispatch(['version'], shell)
  const command = findCommand(name)
  if (command !== undefined) return run(name, command, rest, shell)
  // Quoted only when it can be a command: people paste links and passwords in wrong places.
  if (isOption(name)) {
    const hint = 'options come behind a command; see "clipgate help"'
    throw new UsageError([`Cannot run "${name}": ${hint}`])
  }
  const isName = /^[a-z]{1,12}$/i.test(name)
  const meant = isName ? closest(name.toLowerCase(), Object.keys(COMMANDS)) : undefined
  const hint = meant === undefined ? 'see "clipgate help"' : `did you mean "clipgate ${meant}"?`
  const what = isName ? `"${name}"` : 'that'
  throw new UsageError([`Cannot run ${what}: there is no such command; ${hint}`])
}

async function run(name: string, command: Command, rest: readonly string[], shell: Shell) {
  const settingOptions = command.settings === 'none' ? {} : SETTING_OPTIONS
  const parsed = parseArguments(rest, { ...settingOptions, ...command.options, ...HELP })
  if (parsed.flag('help')) {
    const { explain } = await import('./words/help.ts')
    print(shell, explain(name, command, columnsOf(shell)))
    return 0
  }
  const problems = [...parsed.problems, ...operandProblems(name, command, parsed)]
  const args = { ...parsed, problems }
  if (command.settings === undefined) {
    return command.run({ shell, args, settings: readSettings(args, shell) })
  }
  if (problems.length > 0) throw new UsageError(problems)
  return command.run({ shell, args })
}

function operandProblems(
  name: string,
  { usage, operands: [min, max] = [0, 0] }: Command,
  { operands, doubtful }: Arguments,
): readonly string[] {
  const count = operands.length
  const [first = ''] = operands
  const [, word = ''] = usage.split(' ')
  // Lower-case words stand for themselves.
  const choices = /^[a-z|]+$/.test(word) && count > 0 && doubtful === 0 ? word.split('|') : [first]
  const isChosen = choices.includes(first)
  if (count >= min && count - doubtful <= max && isChosen) return []
  // The wrong argument is not quoted: it may be a link or a password in the wrong place.
  const missing = `${usage.split(' ')[count + 1] ?? 'something'} is missing`
  const wrong = isChosen ? 'there is an argument too many' : 'it takes another word'
  const isLink = operands.some((operand) => LINK.test(operand))
  const problem = count < min ? missing : `${wrong}${isLink ? `; ${LINK_ON_STDIN}` : ''}`
  const meant = isChosen ? undefined : closest(first, choices)
  const hint = meant === undefined ? '' : `; did you mean "clipgate ${name} ${meant}"?`
  return [`Cannot run "${name}": ${problem}; usage: clipgate ${usage}${hint}`]
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof UsageError) return error.problems
  if (error instanceof CommandError) return error.message.split('\n')
  return [explainFailure(error)]
}
