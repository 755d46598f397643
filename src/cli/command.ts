/** A command line: its commands, what each is given, and how each fails. @module */

import type { Settings } from '../daemon/settings.ts'
import { wordsOf } from '../lib/system-error.ts'
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

interface CommandText {
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

export const JSON_FLAG: Readonly<Record<string, OptionSpec>> = {
  json: { meaning: 'print one JSON value a line' },
}

export const LINK: RegExp = /^clip:\/\//i

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

/** Watches stdout until it is closed: with a full disk, or no reader, nothing gets printed. */
export class Printing {
  readonly #stdout: Shell['stdout']
  #failure: NodeJS.ErrnoException | undefined

  constructor({ stdout }: Shell) {
    this.#stdout = stdout
    stdout.on('error', this.#onError)
  }

  /** Waits until all is taken over, or nobody reads any more. @throws {CommandError} */
  async end(): Promise<void> {
    const code = await this.failure()
    if (code === undefined || code === 'EPIPE') return
    throw new CommandError(`Cannot print all of it: ${wordsOf(this.#failure)}`)
  }

  /** Why something was not taken over; `EPIPE` when there is no reader any more. */
  async failure(): Promise<string | undefined> {
    const stdout = this.#stdout
    // The event of a failure follows its callback.
    await new Promise((resolve) => stdout.write('', () => setImmediate(resolve)))
    return this.#failure && (this.#failure.code ?? 'unknown error')
  }

  close(): void {
    this.#stdout.off('error', this.#onError)
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    this.#failure ??= error
  }
}

/** Ask a program to stop: SIGHUP when its window closes, SIGBREAK for Ctrl-Break of Windows. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'] as const

/**
 * Runs something that rejects soon after its signal has aborted. Then the program ends as if nobody
 * had listened, so that a shell sees what happened. Not for what waits for stdout: while that
 * blocks, no listener runs.
 */
export async function interruptible<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  let received: NodeJS.Signals | undefined
  const onSignal = (name: NodeJS.Signals): void => {
    received = name
    controller.abort(new CommandError('Cannot go on: the command was interrupted'))
  }
  for (const name of STOP_SIGNALS) process.once(name, onSignal)
  try {
    return await run(controller.signal)
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, onSignal)
    // Windows ends itself for one signal as for another, and knows few of them.
    const name = process.platform === 'win32' ? 'SIGTERM' : received
    if (received !== undefined) process.kill(process.pid, name)
  }
}
