/**
 * Findings for people: a word for each, so that nothing depends on colours.
 *
 * @module
 */

import type { Finding } from '../doctor/finding.ts'
import { print, type Shell } from './shell.ts'
import { visible } from './visible.ts'

/** The longest name of a check. */
const NAME_WIDTH = 17

const MARKS = { fine: 'ok     ', hint: 'hint   ', problem: 'PROBLEM' } as const

/** In the order of the checks, which is the same each time. */
export function showFindings(shell: Shell, findings: readonly Finding[]): void {
  for (const finding of findings) {
    const { check, detail, fix } = finding
    print(shell, `${MARKS[kindOf(finding)]}  ${check.padEnd(NAME_WIDTH)} ${visible(detail)}`)
    if (fix !== undefined) print(shell, `${' '.repeat(NAME_WIDTH + 10)}-> ${visible(fix)}`)
  }
}

/** One line, under everything. */
export function summarise(findings: readonly Finding[]): string {
  const names = (kind: keyof typeof MARKS): readonly string[] =>
    findings.filter((finding) => kindOf(finding) === kind).map(({ check }) => check)
  const [problems, hints] = [names('problem'), names('hint')]
  const said = hints.length === 0 ? '' : `, ${count(hints.length, 'hint')}`
  if (problems.length === 0) return `No problem found in ${count(findings.length, 'check')}${said}.`
  return `${count(problems.length, 'problem')}${said}: ${problems.join(', ')}.`
}

function kindOf({ ok, fix }: Finding): keyof typeof MARKS {
  if (!ok) return 'problem'
  return fix === undefined ? 'fine' : 'hint'
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
