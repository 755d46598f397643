/**
 * Looks for names in a fixture that mean nothing or that nobody uses, and for scenarios that would
 * prove nothing.
 *
 * @module
 */

import {
  ScriptError,
  type Check,
  type ClientScript,
  type ItemTemplate,
  type Scenario,
  type Step,
} from './client-script.ts'
import { namesIn } from './template.ts'

/** What the replay says itself. */
export const BUILT_IN: readonly string[] = ['host', 'credentials', 'length']

/** @throws {ScriptError} at the line of the name. */
export function checkScript({ file, scenarios }: ClientScript, common: readonly Step[]): void {
  if (scenarios.length === 0) throw new ScriptError(file, 1, 'there is no scenario')
  const misplaced = common.find(({ kind }) => kind !== 'let')
  if (misplaced !== undefined) {
    throw new ScriptError(file, misplaced.line, 'only "let" stands before the first scenario')
  }
  const used = new Set(scenarios.flatMap((scenario) => [...checkScenario(file, scenario, common)]))
  for (const step of common) {
    if (step.kind === 'let' && !used.has(step.name)) {
      throw new ScriptError(file, step.line, `no scenario uses {{${step.name}}}`)
    }
  }
}

/** @returns The names that the scenario uses. */
function checkScenario(
  file: string,
  { steps }: Scenario,
  common: readonly Step[],
): ReadonlySet<string> {
  const last = steps.at(-1)?.line ?? 1
  if (!steps.some(({ kind }) => kind === 'exchange')) {
    throw new ScriptError(file, last, 'this scenario asks nothing')
  }
  const defined = new Map<string, Step | Check>()
  const used = new Set<string>()
  const define = (name: string, by: Step | Check): void => {
    if (defined.has(name) || BUILT_IN.includes(name)) {
      throw new ScriptError(file, by.line, `{{${name}}} has a meaning already`)
    }
    defined.set(name, by)
  }
  for (const step of steps) {
    for (const [line, name] of usesOf(step)) {
      if (!defined.has(name) && !BUILT_IN.includes(name)) {
        throw new ScriptError(file, line, `{{${name}}} means nothing here`)
      }
      used.add(name)
    }
    if (step.kind === 'let') define(step.name, step)
    if (step.kind !== 'exchange') continue
    for (const check of step.checks) if (check.kind === 'keep') define(check.name, check)
  }
  for (const [name, by] of defined) {
    if (!used.has(name) && !common.some((step) => step === by)) {
      throw new ScriptError(file, by.line, `nobody uses {{${name}}}`)
    }
  }
  return used
}

/** The names in a step, with the lines where they stand. */
function usesOf(step: Step): readonly (readonly [number, string])[] {
  const at = (line: number, names: readonly string[]) => names.map((name) => [line, name] as const)
  switch (step.kind) {
    case 'let':
      return at(step.line, namesIn(step.argument))
    case 'given':
    case 'current':
      return at(step.line, step.item === undefined ? [] : namesOfItem(step.item))
    case 'compare':
      return at(step.line, step.names)
    case 'wait':
      return []
    case 'exchange': {
      const { line, pushes } = step
      const pushed = pushes === undefined || pushes === 'nothing' ? [] : namesOfItem(pushes)
      return [
        ...at(line, [...namesIn(step.head), ...namesIn(step.body), ...pushed]),
        ...step.checks.flatMap((check) =>
          'value' in check && check.value !== undefined ? at(check.line, namesIn(check.value)) : [],
        ),
      ]
    }
  }
}

function namesOfItem(item: ItemTemplate): readonly string[] {
  if (item.type === 'Text') return namesIn(item.text)
  return [...namesIn(item.dataName), ...namesIn(item.bytes)]
}
