/**
 * `clipgate doctor`.
 *
 * Exit code 1 when something is not as a phone needs it; hints alone leave it 0.
 *
 * @module
 */

import { BASE_URL } from '../daemon/setting-kinds.ts'
import type { Settings } from '../daemon/settings.ts'
import { createStreamLogger } from '../daemon/stream-logger.ts'
import { checkMachine } from '../doctor/check-machine.ts'
import { fine, problem, type Finding } from '../doctor/finding.ts'
import { ownMachine } from '../doctor/machine.ts'
import { readSituation, type Situation } from '../doctor/situation.ts'
import { examine, type Address } from '../doctor/through/examine.ts'
import { chooseServer } from './choose-server.ts'
import { CommandError, UsageError, type Invocation } from './command.ts'
import { Input } from './input.ts'
import { interruptible } from './interruptible.ts'
import { readSettings } from './setting-options.ts'
import { print, printJson } from './shell.ts'
import { showFindings, summarise } from './show-findings.ts'
import { visible } from './visible.ts'

export async function runDoctor(call: Invocation): Promise<number> {
  const { shell, args } = call
  const address = await readAddress(call)
  const isJson = args.flag('json')
  const findings: Finding[] = []
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found)
    if (!isJson) showFindings(shell, found)
  }

  await interruptible(async (signal) => {
    // A link is of another machine: this one is only where its address is looked at from.
    const situation = address?.credentials === undefined ? await look(call, tell) : undefined
    try {
      if (situation !== undefined) tell(await checkMachine(situation, loggerOf(call)))
      if (address === undefined) return
      const machine = ownMachine(shell.where)
      if (!isJson) print(shell, `\nThrough ${visible(address.url)}, for half a minute:`)
      tell(await examine(address, { admin: situation?.daemon?.admin, machine, signal }))
    } finally {
      await situation?.daemon?.admin.close()
    }
  })

  if (isJson) printJson(shell, findings)
  else print(shell, `\n${summarise(findings)}`)
  return findings.every(({ ok }) => ok) ? 0 : 1
}

/** What there is to look at; `undefined` when, without settings, nobody knows where it is. */
async function look(
  call: Invocation,
  tell: (findings: readonly Finding[]) => void,
): Promise<Situation | undefined> {
  const settings = loadSettings(call)
  if ('check' in settings) {
    tell([settings])
    return undefined
  }
  tell([fine('settings', 'can be used')])
  return readSituation(settings, ownMachine(call.shell.where), loggerOf(call))
}

/** The settings, or what is wrong with them where only surroundings are to blame. */
function loadSettings({ args, shell }: Invocation): Settings | Finding {
  try {
    return readSettings(args, shell)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const fix = 'correct what it names; "clipgate help serve" has all settings'
    return problem('settings', error.message.replaceAll('\n', '; '), fix)
  }
}

function loggerOf({ shell }: Invocation): ReturnType<typeof createStreamLogger> {
  return createStreamLogger(shell.stderr, 'warn')
}

/** What to go through; a link alone says it too. */
async function readAddress(call: Invocation): Promise<Address | undefined> {
  const { args, shell } = call
  const through = parseThrough(args.text('through'))
  if (args.problems.length > 0) throw new UsageError(args.problems)
  if (args.text('link-file') === undefined) {
    return through === undefined ? undefined : { url: through, credentials: undefined }
  }
  const input = new Input(shell)
  try {
    // With --link-file, it never is a saved one.
    const credentials = await chooseServer(call, input)
    return { url: through ?? baseOf(credentials.url), credentials }
  } finally {
    input.close()
  }
}

/** What a stranger wrote into a link may hold more than an address. */
function baseOf(url: string): string {
  try {
    return BASE_URL.decode(url, '')
  } catch (error) {
    if (error instanceof TypeError)
      throw new CommandError(`Cannot use the URL of the link: it ${error.message}`)
    throw error
  }
}

function parseThrough(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  try {
    return BASE_URL.decode(text, '')
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError([`Cannot use --through: it ${error.message}`])
    throw error
  }
}
