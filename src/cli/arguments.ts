/**
 * Splits the arguments of a command into options and operands, and collects what is wrong.
 *
 * Messages never repeat values or operands: a person who pastes a link or a password in the wrong
 * place should not find it in a log as well.
 * @module
 */

import { parseArgs } from 'node:util'

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
export class Arguments {
  readonly operands: readonly string[]
  readonly problems: readonly string[]
  /** The values of options, by option name. */
  readonly values: Readonly<Record<string, OptionValue>>

  constructor(
    operands: readonly string[],
    values: Readonly<Record<string, OptionValue>>,
    problems: readonly string[],
  ) {
    this.operands = operands
    this.values = values
    this.problems = problems
  }

  /** The value of an option; `undefined` when it was not given. */
  text(name: string): string | undefined {
    const value = this.values[name]
    return typeof value === 'string' ? value : undefined
  }

  /** The same arguments with further problems. */
  withProblems(problems: readonly string[]): Arguments {
    return new Arguments(this.operands, this.values, [...this.problems, ...problems])
  }

  /** Whether a flag was given. */
  flag(name: string): boolean {
    return this.values[name] === true
  }
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
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option' || token.index === unknownAt) continue
    const { name, isOff } = resolveName(token.name, specs)
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
    // The rest of a cluster of short options, `-xyz`, may be anything.
    if (spec === undefined) unknownAt = token.index
    const problem =
      spec === undefined
        ? `Cannot use ${nameOf(token.rawName)}: there is no such option; see --help`
        : store(values, { name, isOff }, spec, token)
    if (problem !== undefined) problems.add(problem)
  }
  return new Arguments(operands, values, [...problems])
}

/** Quotes an option by its name; other text may be a secret in the wrong place. */
function nameOf(option: string): string {
  return /^--?[a-z][a-z-]{0,30}$/i.test(option) ? option : 'an option'
}

/** Reads `--no-headless` as the flag `--headless`, switched off. */
function resolveName(
  name: string,
  specs: Readonly<Record<string, OptionSpec>>,
): { readonly name: string; readonly isOff: boolean } {
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
