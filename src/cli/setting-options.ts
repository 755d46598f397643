/** The settings of the daemon as options of commands. @module */

import { loadSettings, SettingsError, toOption } from '../daemon/load-settings.ts'
import type { SettingKind } from '../daemon/setting-kinds.ts'
import { SETTING_NAMES, SETTINGS, type Settings } from '../daemon/settings.ts'
import type { Arguments, OptionSpec } from './arguments.ts'
import { CommandError, UsageError } from './command.ts'
import type { Shell } from './shell.ts'

const CONFIG_MEANING = 'JSON file of settings (config.json in the config folder)'

/** One option for each setting, and the one that names the config file. */
export const SETTING_OPTIONS: Readonly<Record<string, OptionSpec>> = Object.fromEntries([
  ...SETTING_NAMES.map((name): [string, OptionSpec] => {
    const { kind, meaning: what, byDefault } = SETTINGS[name]
    const { placeholder, isList = false } = kind
    return [optionName(name), { placeholder, isList, meaning: `${what} (${byDefault})` }]
  }),
  ['config', { placeholder: 'FILE', meaning: CONFIG_MEANING }],
])

/**
 * The settings of one call.
 *
 * @throws {UsageError} with everything that is wrong with the call, the arguments included.
 * @throws {CommandError} when only the environment or the config file is wrong.
 */
export function readSettings(args: Arguments, { where, cwd }: Shell): Settings {
  const options = Object.fromEntries(
    ['config', ...SETTING_NAMES].map((name) => [name, args.values[optionName(name)]]),
  )
  try {
    const settings = loadSettings({ options, where, cwd })
    if (args.problems.length > 0) throw new UsageError(args.problems)
    return settings
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const problems = [...args.problems, ...error.problems]
    throw error.isUsage || args.problems.length > 0
      ? new UsageError(problems)
      : new CommandError(problems.join('\n'))
  }
}

/**
 * Decodes an argument that is spelled like a setting.
 *
 * @param subject The beginning of what is said when it is wrong: `Cannot use --url: it`.
 * @throws {UsageError} with that, and the reason.
 */
export function decodeAs<Value>(
  kind: Pick<SettingKind<Value>, 'decode'>,
  text: string,
  subject: string,
): Value {
  try {
    return kind.decode(text, '')
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError([`${subject} ${error.message}`])
    throw error
  }
}

function optionName(name: string): string {
  return toOption(name).slice('--'.length)
}
