/**
 * Splits the arguments of a command into options and operands, and collects what is wrong.
 *
 * Messages never repeat values or operands: a person who pastes a link or a password in the wrong
 * place should not find it in a log as well.
 * @module
 */

import { parseArgs } from 'node:util'
import { closest } from '../lib/closest.ts'

/** How an option is written, and what the help says of it. */
export interface OptionSpec {
  /** The word for its value in the help; absent for a flag, which takes none. */
  readonly placeholder?: string | undefined
  readonly meaning: string
  /** Whether it may be given several times. */
  readonly isList?: boolean
}

type OptionValue = string | boolean | readonly string[]

/** The arguments of one call. */
export interface Arguments {
  readonly operands: readonly string[]
  /** Those of them that may be values of options that do not exist. */
  readonly doubtful: number
  readonly problems: readonly string[]
  /** The values of options, by option name. */
  readonly values: Readonly<Record<string, OptionValue>>
  /** The value of an option; `undefined` when it was not given. */
  text(name: string): string | undefined
  flag(name: string): boolean
}

/** Splits `args`; options and operands may come in any order, and `--` ends the options. */
export function parseArguments(
  args: readonly string[],
  specs: Readonly<Record<string, OptionSpec>>,
): Arguments {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { placeholder }]) => {
      const type: 'boolean' | 'string' = placeholder === undefined ? 'boolean' : 'string'
      return [name, name === 'help' ? { type, short: 'h' } : { type }]
    }),
  )
  // Not strict: strict parsing stops at the first problem, and quotes it.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })

  const values: Record<string, OptionValue> = {}
  const operands: string[] = []
  const problems = new Set<string>()
  let unknownAt = -1
  let doubtful = 0
  for (const token of tokens) {
    if (token.kind === 'positional') {
      operands.push(token.value)
      if (unknownAt !== -1 && token.index === unknownAt + 1) doubtful += 1
    }
    if (token.kind !== 'option' || token.index === unknownAt) continue
    const { name, isOff } = resolveName(token.name, specs)
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
    if (spec === undefined) {
      // The rest of a cluster of short options, `-xyz`, may be anything.
      unknownAt = token.index
      const what = nameOf(token.rawName)
      problems.add(`Cannot use ${what}: there is no such option; ${hint(token.rawName, specs)}`)
      continue
    }
    const problem = store(values, { name, isOff }, spec, token)
    if (problem !== undefined) problems.add(problem)
  }
  return {
    operands,
    doubtful,
    problems: [...problems],
    values,
    text: (name) => {
      const value = values[name]
      return typeof value === 'string' ? value : undefined
    },
    flag: (name) => values[name] === true,
  }
}

/** Names the option that was meant, as far as that can be told. */
function hint(option: string, specs: Readonly<Record<string, OptionSpec>>): string {
  const name = option.startsWith('--') && isOption(option) ? option.slice('--'.length) : ''
  const meant = name === '' ? undefined : closest(name, Object.keys(specs))
  return meant === undefined ? 'see --help' : `did you mean --${meant}?`
}

/** Quotes an option by its name; other text may be a secret in the wrong place. */
function nameOf(option: string): string {
  return isOption(option) ? option : 'an option'
}

/** Whether a text is an option that may be quoted: it is too short and plain for a secret. */
export function isOption(option: string): boolean {
  return /^--?[a-z][a-z-]{0,30}$/i.test(option)
}

/** Reads `--no-headless` as the flag `--headless`, switched off. */
function resolveName(name: string, specs: Readonly<Record<string, OptionSpec>>) {
  const positive = name.replace(/^no-/, '')
  const isOff = positive !== name && Object.hasOwn(specs, positive)
  return isOff && specs[positive]?.placeholder === undefined
    ? { name: positive, isOff }
    : { name, isOff: false }
}

type GivenOption = {
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** @returns What is wrong with it. */
function store(
  values: Record<string, OptionValue>,
  { name, isOff }: ReturnType<typeof resolveName>,
  { placeholder, isList = false }: OptionSpec,
  { value, inlineValue: isInline }: GivenOption,
): string | undefined {
  if (placeholder === undefined) {
    if (value !== undefined) return `Cannot use --${name}: it takes no value`
    values[name] = !isOff
    return undefined
  }
  // An argument that looks like an option is one: the option before it lacks its value.
  const isMissing = value === undefined || (!isInline && value.length > 1 && value.startsWith('-'))
  if (isMissing) return `Cannot use --${name}: it needs a value, ${placeholder}`
  const earlier = values[name]
  if (isList) values[name] = [...(Array.isArray(earlier) ? earlier : []), value]
  else if (earlier !== undefined) return `Cannot use --${name}: it was given twice`
  else values[name] = value
  return undefined
}
