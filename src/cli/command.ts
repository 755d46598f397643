/**
 * What commands are given, and how they fail.
 *
 * @module
 */

import type { Settings } from '../daemon/settings.ts'
import type { Arguments } from './arguments.ts'
import type { Shell } from './shell.ts'

/** One call of a command. */
export interface Invocation {
  readonly shell: Shell
  readonly args: Arguments
}

/** One call of a command that takes all settings of the daemon. */
export interface SettingsInvocation extends Invocation {
  readonly settings: Settings
}

/** @returns The exit code. */
export type Run<Call extends Invocation> = (call: Call) => Promise<number>

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
