/**
 * Parses the files of fixtures/clients. Refuses whatever it does not know, and whatever would
 * never be used or checked.
 *
 * @module
 */

import { checkScript } from './check-script.ts'
import { ScriptError, type ClientScript, type Scenario, type Step } from './client-script.ts'
import { FUNCTIONS } from './make-value.ts'
import { parseExchange } from './parse-exchange.ts'
import { parseItem } from './parse-item.ts'
import { ScriptLines } from './script-lines.ts'

const LET = /^([A-Za-z][\w-]*) = (\w+)(?: (.+))?$/

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 }

/** @throws {ScriptError} naming the file and the line. */
export function parseScript(file: string, text: string): ClientScript {
  const lines = new ScriptLines(file, text)
  const common = parseSteps(lines)
  const scenarios: Scenario[] = []
  while (lines.peek() !== undefined) {
    const title = lines.next().slice('== '.length).trim()
    const { line } = lines
    if (title === '' || scenarios.some((other) => other.title === title)) {
      throw new ScriptError(file, line, 'a scenario needs a title of its own')
    }
    scenarios.push({ title, steps: [...common, ...parseSteps(lines)] })
  }
  const script = { file, scenarios }
  checkScript(script, common)
  return script
}

function parseSteps(lines: ScriptLines): readonly Step[] {
  const steps: Step[] = []
  while (lines.peek()?.startsWith('== ') === false) {
    const line = lines.next()
    if (line.trim() === '' || line.startsWith('#')) continue
    steps.push(parseStep(line, lines))
  }
  return steps
}

function parseStep(line: string, lines: ScriptLines): Step {
  const at = lines.line
  const [, keyword = '', rest = ''] = /^(\S+)(?: (.*))?$/.exec(line) ?? []
  switch (keyword) {
    case '>>>':
      return parseExchange(rest, lines)
    case 'let':
      return parseLet(rest, lines)
    case 'given':
      return { kind: 'given', line: at, item: parseItem(rest, lines) }
    case 'current':
      if (rest === 'nothing') return { kind: 'current', line: at, item: undefined }
      return { kind: 'current', line: at, item: parseItem(rest, lines) }
    case 'wait':
      return { kind: 'wait', line: at, ms: parseDuration(rest, lines) }
    case 'same':
    case 'alike': {
      const [, first = '', second = ''] = /^(\S+) (\S+)$/.exec(rest) ?? []
      if (second === '') throw lines.error(`"${keyword}" wants two names`)
      return { kind: 'compare', line: at, names: [first, second], ignoreCase: keyword === 'alike' }
    }
    default:
      throw lines.error('this line says nothing')
  }
}

/** `let name = function argument`; the lines of `head` follow indented. */
function parseLet(rest: string, lines: ScriptLines): Step {
  const at = lines.line
  const [, name = '', called = '', argument = ''] = LET.exec(rest) ?? []
  const make = FUNCTIONS.get(called === 'head' ? 'text' : called)
  if (make === undefined) throw lines.error('"let" wants "name = function argument"')
  const text = called === 'head' ? lines.indented().join('\r\n') : argument
  if (text === '') throw lines.error(`"${called}" wants an argument`)
  return { kind: 'let', line: at, name, make, argument: lines.template(text) }
}

function parseDuration(text: string, lines: ScriptLines): number {
  const [, count = '', unit = ''] = /^(\d+) (\w+)$/.exec(text) ?? []
  const factor = MILLISECONDS[unit]
  if (factor === undefined) throw lines.error('"wait" wants a number and ms, s, min or h')
  return Number(count) * factor
}
