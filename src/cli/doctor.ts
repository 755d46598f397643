/** `clipgate doctor`: exits with 1 when a phone would be stopped; hints leave 0. @module */

import { BASE_URL } from '../daemon/setting-kinds.ts'
import type { Settings } from '../daemon/settings.ts'
import { createStreamLogger } from '../station/stream-logger.ts'
import { tryClipboard } from '../doctor/check-clipboard.ts'
import { checkMachine } from '../doctor/check-machine.ts'
import { fine, findingOf, problem, type Finding } from '../doctor/finding.ts'
import { ownMachine, readSituation, type Situation } from '../doctor/situation.ts'
import { examine, type Address } from '../doctor/through/examine.ts'
import { countOf } from '../lib/count-of.ts'
import type { Logger } from '../ports/logger.ts'
import { readServer } from './choose-server.ts'
import { CommandError, interruptible, UsageError, type Invocation } from './command.ts'
import { withInput } from './input.ts'
import { decodeAs, readSettings } from './setting-options.ts'
import { columnsOf, print, printJson, type Shell } from './shell.ts'
import { formatBehind, indentBehind } from './text-table.ts'
import { visible } from './visible.ts'

/** Runs `clipgate doctor`. */
export async function runDoctor(call: Invocation): Promise<number> {
  const { shell, args } = call
  const address = await readAddress(call)
  const isJson = args.flag('json')
  const findings: Finding[] = []
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found)
    if (!isJson) showFindings(shell, found)
  }

  const logger = createStreamLogger(shell.stderr, 'warn')
  await interruptible(async (signal) => {
    // A link is of another machine: this one is only where its address is looked at from.
    const situation =
      address?.credentials === undefined ? await look(call, logger, tell) : undefined
    try {
      if (situation !== undefined) tell(await checkMachine(situation, logger))
      if (situation !== undefined && args.flag('try-clipboard')) {
        tell(await tryClipboard(situation, logger))
      }
      if (address === undefined) return
      const machine = ownMachine(shell.where)
      if (!isJson) printText(shell, `Through ${visible(address.url)}, for half a minute:`)
      tell(await examine(address, { admin: situation?.daemon?.admin, machine, signal }))
    } finally {
      await situation?.daemon?.admin.close()
    }
  })

  if (isJson) printJson(shell, findings)
  else printText(shell, summarise(findings))
  return findings.every(({ ok }) => ok) ? 0 : 1
}

/** Reads what the checks look at; `undefined` when bad settings hide where that is. */
async function look(
  call: Invocation,
  logger: Logger,
  tell: (findings: readonly Finding[]) => void,
): Promise<Situation | undefined> {
  const settings = loadSettings(call)
  if ('check' in settings) {
    tell([settings])
    return undefined
  }
  tell([findingOf('settings', fine('can be used'))])
  return readSituation(settings, ownMachine(call.shell.where), logger)
}

/** The settings, or what is wrong with them where only surroundings are to blame. */
function loadSettings({ args, shell }: Invocation): Settings | Finding {
  try {
    return readSettings(args, shell)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const fix = 'correct what it names; "clipgate help serve" has all settings'
    return findingOf('settings', problem(error.message.replaceAll('\n', '; '), fix))
  }
}

/** The address to go through: that of `--through`, or that of the link. */
async function readAddress({ args, shell }: Invocation): Promise<Address | undefined> {
  const text = args.text('through')
  const through =
    text === undefined ? undefined : decodeAs(BASE_URL, text, 'Cannot use --through: it')
  if (args.problems.length > 0) throw new UsageError(args.problems)
  if (args.text('link-file') === undefined) {
    return through === undefined ? undefined : { url: through, credentials: undefined }
  }
  const server = await withInput(shell, (input) => readServer({ args, shell }, input))
  const { url, username: user, password: pwd } = server
  return { url: through ?? baseOf(url), credentials: { user, pwd } }
}

/** The base URL of a link; a stranger may have written more than an address into it. */
function baseOf(url: string): string {
  try {
    return decodeAs(BASE_URL, url, 'Cannot use the URL of the link: it')
  } catch (error) {
    throw error instanceof UsageError ? new CommandError(error.message) : error
  }
}

/** The longest name of a check. */
const NAME_WIDTH = 17

const MARKS = { fine: 'ok     ', hint: 'hint   ', problem: 'PROBLEM' } as const

/** A command to copy, which is never broken. */
const COMMAND = /\b(?:clipgate [a-z]|sudo |netsh |certbot |tcp dport )(?:\{[^}]*\}|[^,;)"{])*/g

/** Text of ours has none. */
const UNBROKEN_SPACE = '\0'

/** Prints findings in the order of the checks, which is the same each time. */
function showFindings(shell: Shell, findings: readonly Finding[]): void {
  const columns = columnsOf(shell)
  for (const finding of findings) {
    const { check, detail, fix } = finding
    const start = `${MARKS[kindOf(finding)]}  ${check.padEnd(NAME_WIDTH)} `
    for (const line of formatBehind(start, visible(detail), columns)) print(shell, line)
    if (fix === undefined) continue
    const left = indentBehind(start, columns)
    const text = visible(fix).replace(COMMAND, (whole) => whole.replaceAll(' ', UNBROKEN_SPACE))
    for (const line of formatBehind('-> ', text, columns && columns - left)) {
      print(shell, ' '.repeat(left) + line.replaceAll(UNBROKEN_SPACE, ' '))
    }
  }
}

/** Prints a text below an empty line. */
function printText(shell: Shell, text: string): void {
  for (const line of ['', ...formatBehind('', text, columnsOf(shell))]) print(shell, line)
}

/** Says what was found, under everything. */
function summarise(findings: readonly Finding[]): string {
  const names = (kind: keyof typeof MARKS): readonly string[] =>
    findings.filter((finding) => kindOf(finding) === kind).map(({ check }) => check)
  const [problems, hints] = [names('problem'), names('hint')]
  const said = hints.length === 0 ? '' : `, ${countOf(hints.length, 'hint')}`
  if (problems.length === 0)
    return `No problem found in ${countOf(findings.length, 'check')}${said}.`
  return `${countOf(problems.length, 'problem')}${said}: ${problems.join(', ')}.`
}

function kindOf({ ok, fix }: Finding): keyof typeof MARKS {
  if (!ok) return 'problem'
  return fix === undefined ? 'fine' : 'hint'
}
