/** A command line: its commands, what each is given, and how each fails. @module */

import type { Settings } from '../daemon/settings.ts'
import type { Arguments, OptionSpec } from './arguments.ts'
import { print, printJson, type Shell } from './shell.ts'

/** One call of a command. */
export interface Invocation {
  readonly shell: Shell
  readonly args: Arguments
}

/** One call of a command that is given the settings of the daemon. */
export interface SettingsInvocation extends Invocation {
  readonly settings: Settings
}

/** A row of the table of commands. */
export type Command = CommandText & (SettingsCommand | PlainCommand)

/** The words and the arguments of a command. */
export interface CommandText {
  /** The words that follow `clipgate`. */
  readonly usage: string
  readonly summary: string
  /** The rest of its help. */
  readonly details?: string
  /** Calls that people make. */
  readonly examples?: readonly string[]
  /** The options of its own, without those of settings. */
  readonly options: Readonly<Record<string, OptionSpec>>
  /** How many arguments it takes besides options; none, unless given. */
  readonly operands?: readonly [min: number, max: number]
}

/** All settings of the daemon are options of the command, which is given their values. */
interface SettingsCommand {
  readonly settings?: undefined
  /** Resolves to the exit code. */
  readonly run: (call: SettingsInvocation) => Promise<number>
}

/** Either no setting is an option, or the command reads them itself: a bad one is a finding. */
interface PlainCommand {
  readonly settings: 'none' | 'unread'
  readonly run: (call: Invocation) => Promise<number>
}

/** The beginning of a connect link. */
export const LINK: RegExp = /^clip:\/\//i

/** The advice for a link that is an argument. */
export const LINK_ON_STDIN = 'a connect link comes on stdin, where no other user can read it'

/** The command was called wrongly: exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** One line each. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** The command could not do what was asked: exit 1. The message is for people. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Prints what came of a command: with `--json` the value, else the lines for people. */
export function printResult(
  { shell, args }: Invocation,
  value: unknown,
  lines: readonly string[],
): void {
  if (args.flag('json')) printJson(shell, value)
  else for (const line of lines) print(shell, line)
}
