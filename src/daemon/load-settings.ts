/**
 * Makes settings from their three sources, or says everything that is wrong with them.
 *
 * A setting has one name in three spellings: `dataDir` in the config file, `--data-dir` as an
 * option, `CLIPGATE_DATA_DIR` in the environment. An option beats the environment, which beats the
 * file. An unknown or bad setting anywhere, even one that another source beats, stops the start.
 * @module
 */

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../lib/describe-failure.ts'
import { hasCode, wordsOf } from '../lib/system-error.ts'
import { configFolder, ownSurroundings, type Surroundings } from './folders.ts'
import {
  completeSettings,
  isSettingName,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Settings,
} from './settings.ts'

/** Where settings come from. */
export interface SettingSources {
  /** By setting name, and `config`, the path of the config file; lists as arrays of strings. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** By default the platform, the environment and the home folder of this process. */
  readonly where?: Surroundings | undefined
  /** The folder of relative paths in options and environment; by default that of this process. */
  readonly cwd?: string | undefined
}

/** Settings that cannot be used. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  /** One line each. */
  readonly problems: readonly string[]
  /** Whether an option is among them: then the command was called wrongly. */
  readonly isUsage: boolean

  constructor(problems: readonly string[], isUsage: boolean) {
    super(problems.join('\n'))
    this.problems = problems
    this.isUsage = isUsage
  }
}

interface Entry {
  readonly name: string
  /** The name as that source spells it. */
  readonly spelling: string
  readonly raw: unknown
  /** The folder that relative paths start from. */
  readonly folder: string
  readonly isOption: boolean
}

type Decoded = { -readonly [Name in SettingName]?: Settings[Name] }

const NO_SETTING = 'is not a setting; see "clipgate help serve"'

const CONFIG_VARIABLE = 'CLIPGATE_CONFIG'

// Variables of the tests, not of the program under test.
const TEST_PREFIX = 'CLIPGATE_TEST_'

/**
 * Reads the settings of this process from its environment and its config file, or those of the
 * sources that are given.
 *
 * @throws {SettingsError}
 */
export function loadSettings({
  options = {},
  where = ownSurroundings(),
  cwd = process.cwd(),
}: SettingSources = {}): Settings {
  const problems: string[] = []
  const decoded: Decoded = {}
  let isUsage = false

  const { config: configOption, ...settingOptions } = options
  const config = configOption ?? (where.environment[CONFIG_VARIABLE] || undefined)
  const file = typeof config === 'string' ? resolve(cwd, config) : defaultConfigFile(where)
  const fromFile = attempt(() => readFileEntries(file, config === undefined))
  if (fromFile instanceof TypeError)
    problems.push(`Cannot use config file "${file}": it ${fromFile.message}`)

  const entries = [
    ...(fromFile instanceof TypeError ? [] : fromFile),
    ...readVariables(where, cwd),
    ...readOptions(settingOptions, cwd),
  ]
  for (const { name, spelling, raw, folder, isOption } of entries) {
    const known = isSettingName(name)
    const result = known ? attempt(() => decodeInto(decoded, name, raw, folder)) : undefined
    if (known && !(result instanceof TypeError)) continue
    problems.push(`Cannot use ${spelling}: it ${result?.message ?? NO_SETTING}`)
    isUsage ||= isOption
  }

  if (problems.length > 0) throw new SettingsError(problems, isUsage)
  return completeSettings(decoded, where)
}

/** The config file that is read unless another one is named. */
export function defaultConfigFile(where: Surroundings): string {
  return join(configFolder(where), 'config.json')
}

/** `dataDir` as `--data-dir`. */
export function toOption(name: string): string {
  return `--${toWords(name)}`
}

/** `dataDir` as `CLIPGATE_DATA_DIR`. */
export function toVariable(name: string): string {
  return `CLIPGATE_${toWords(name).toUpperCase().replaceAll('-', '_')}`
}

function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function readFileEntries(file: string, mayBeMissing: boolean): readonly Entry[] {
  return Object.entries(readConfigFile(file, mayBeMissing)).map(([name, raw]) => {
    const spelling = `${JSON.stringify(name)} in "${file}"`
    return { name, spelling, raw, folder: dirname(file), isOption: false }
  })
}

/** The first line with which a text cannot begin a JSON text; engines do not always tell it. */
function lineOfFault(text: string): number {
  const lines = text.trimEnd().split('\n')
  let [least, most] = [1, lines.length]
  while (least < most) {
    const middle = Math.floor((least + most) / 2)
    if (isBeginning(lines.slice(0, middle).join('\n'))) least = middle + 1
    else most = middle
  }
  return least
}

/** Whether nothing is wrong with whole lines of a JSON text, but that they end. */
function isBeginning(lines: string): boolean {
  const text = `${lines}\n`
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = messageOf(error)
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return message.includes('Unexpected end') || Number(position) === text.length
  }
}

/** @throws {TypeError} with a message that completes "Cannot use config file …: it …". */
function readConfigFile(path: string, mayBeMissing: boolean): object {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT')
    if (isMissing && mayBeMissing) return {}
    throw new TypeError(isMissing ? 'does not exist' : `cannot be read: ${wordsOf(cause)}`, {
      cause,
    })
  }
  let value: unknown
  // Editors of some platforms open a file with a byte order mark.
  text = text.replace(/^\uFEFF/, '')
  try {
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch (cause) {
    throw new TypeError(`is not valid JSON, in line ${lineOfFault(text)}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new TypeError('must hold one JSON object')
}

function readVariables({ environment }: Surroundings, folder: string): readonly Entry[] {
  const names = new Map<string, string>(SETTING_NAMES.map((name) => [toVariable(name), name]))
  return (
    Object.entries(environment)
      .filter(([variable]) => variable.startsWith('CLIPGATE_') && variable !== CONFIG_VARIABLE)
      // An empty variable is how a shell says that it is not set.
      .filter(([variable, value]) => value !== '' && !variable.startsWith(TEST_PREFIX))
      .map(([variable, raw]) => {
        const name = names.get(variable) ?? variable
        return { name, spelling: variable, raw, folder, isOption: false }
      })
  )
}

function readOptions(options: Readonly<Record<string, unknown>>, folder: string): readonly Entry[] {
  return Object.entries(options)
    .filter(([, raw]) => raw !== undefined)
    .map(([name, raw]) => ({ name, spelling: toOption(name), raw, folder, isOption: true }))
}

function decodeInto<Name extends SettingName>(
  decoded: { [Key in Name]?: Settings[Key] },
  name: Name,
  raw: unknown,
  folder: string,
): undefined {
  decoded[name] = SETTINGS[name].kind.decode(raw, folder)
}

/** A `TypeError` is how a decoder refuses; anything else is a bug. */
function attempt<Result>(run: () => Result): Result | TypeError {
  try {
    return run()
  } catch (error) {
    if (error instanceof TypeError) return error
    throw error
  }
}
