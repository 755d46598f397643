/** Texts about commands and settings, for the help, the manual page and completion. @module */

import type { OptionSpec } from './arguments.ts'
import type { Command } from './command.ts'
import { SETTING_OPTIONS } from './setting-options.ts'

const USUAL_SETTINGS: readonly string[] = ['data-dir', 'config']

/** The exit codes of all commands, in words. */
export const EXIT_CODES: string =
  '0 done, 1 failed, 2 called wrongly; "status" has 3 while no daemon runs.'

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

/** Says how settings are written. */
export const SETTING_NOTES: string =
  'A setting has one name in three spellings: --data-dir as an option, CLIPGATE_DATA_DIR in the ' +
  'environment, "dataDir" in the config file. An option beats the environment, which beats the ' +
  'file. Sizes are bytes, or 16KiB, 16MiB, 10GiB; durations are seconds, or 500ms, 8s, 5m, 1h, ' +
  '1d. Lists take commas, or the option again; --no-headless switches a flag off.'
