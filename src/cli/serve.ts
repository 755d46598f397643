/** `clipgate serve`: runs the daemon until a signal ends it. @module */

import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import { delimiter } from 'node:path'
import type { HappeningKind } from '../core/happening.ts'
import { startDaemon, type Daemon } from '../daemon/start-daemon.ts'
import { createStreamLogger } from '../station/stream-logger.ts'
import { takeSystemdNotifier } from '../daemon/systemd-notifier.ts'
import { readVersion } from '../daemon/version.ts'
import type { Witness } from '../daemon/witness.ts'
import { systemClock } from '../lib/clock.ts'
import { describeFailure, messageOf } from '../lib/describe-failure.ts'
import { findProgram } from '../lib/find-program.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import type { Logger } from '../ports/logger.ts'
import {
  JSON_FLAG,
  STOP_SIGNALS,
  type Command,
  type Invocation,
  type SettingsInvocation,
} from './command.ts'
import { neverHolding } from './held-terminal.ts'
import { columnsOf, complain, print, printJson, type Shell } from './shell.ts'
import { wrap } from './text-table.ts'
import { visible } from './visible.ts'
import { sentenceOf } from './words/happenings.ts'

/** Its row of the table of commands, the rest of which a daemon does without. */
export const SERVE: Command = {
  usage: 'serve',
  summary: 'run the daemon until it is told to stop',
  details:
    'On a terminal, with no device yet, it pairs a first one and shows its QR code. "clipgate ' +
    'stop", SIGTERM, SIGINT and SIGHUP stop it, once uploads have finished (--grace); a second ' +
    'signal at once.',
  examples: ['clipgate serve', 'clipgate serve --headless --public-url https://clip.example.net'],
  options: JSON_FLAG,
  run: runServe,
}

async function runServe({ shell, args, settings }: SettingsInvocation): Promise<number> {
  const isJson = args.flag('json')
  const signalled = listenForSignals()
  const isWatched = shell.stdout.isTTY === true && !isJson
  const witness = isWatched ? createWitness(shell) : undefined
  const log = createStreamLogger(neverHolding(shell.stderr), settings.logLevel)
  const logger = { ...log, happened: witness?.happened }
  // A terminal is told in words when it is ready, and shown the code of what is paired.
  const trail = shell.stderr.isTTY === true ? { ...logger, info: () => undefined } : logger
  const systemd = takeSystemdNotifier(process.env, { clock: systemClock, logger })
  const daemon = await startDaemon(settings, { logger, trail, witness })
  // Not before: a start that fails must end the program.
  surviveFailures(logger)

  const { gateway, control, listening, mode, clipboard, pid } = daemon.ready
  trail.info('Started', {
    version: readVersion(),
    dataDir: settings.dataDir,
    gateway: listening.join(' '),
    control,
    mode,
  })
  if (isJson) printJson(shell, { event: 'ready', gateway, control, mode, clipboard, pid })
  for (const warning of daemon.warnings) complain(shell, `Warning: ${warning}`)
  const what = mode === 'headless' ? 'headless' : `desktop, clipboard ${clipboard}`
  const said = `clipgate is ready: ${gateway} (${what}); control ${control}; process ${pid}`
  if (isWatched) {
    for (const line of wrap(said, columnsOf(shell))) print(shell, line)
    const hint = await explainCall(shell, process.argv[1] ?? '')
    if (hint !== undefined) complain(shell, hint)
  }
  const hints = isWatched ? fitHints(columnsOf(shell)) : []
  const mayPair = settings.pairFirst || isWatched
  if (!mayPair || !(await pairFirst(daemon, { shell, args }, hints))) {
    for (const line of hints) print(shell, line)
  }
  if (!isJson && !isWatched) print(shell, said)

  systemd.ready()

  const why = await Promise.race([signalled, daemon.stopAsked.then(() => 'clipgate stop')])
  systemd.stopping()
  const { cut } = await daemon.stop()
  trail.info('Stopped', { by: why, cut })
  return 0
}

const HINTS = ['Panel: clipgate panel', 'Another phone: clipgate pair', 'Stop: Ctrl-C']

/** Says what can be done now, on one line where that has room. */
function fitHints(columns = Number.POSITIVE_INFINITY): readonly string[] {
  const line = HINTS.join('   ')
  return line.length < columns ? [line] : HINTS
}

/** Happenings by which an item becomes current. */
const ITEMS: readonly HappeningKind[] = ['pushed', 'received', 'copied']

/** Tells at the terminal what happens: never content. */
function createWitness({ stdout, stderr }: Shell): Witness & Pick<Logger, 'happened'> {
  const terminal = neverHolding(stdout)
  const tell = (words: string) => terminal.write(`${visible(words)}\n`)
  return {
    happened: (happening) => {
      const { kind, label, address, by } = happening
      // A start shows its code, and items are told below.
      if (ITEMS.includes(kind) || by === 'start') return false
      const isNew = kind === 'connected'
      tell(isNew ? `${label} is connected (${address})` : sentenceOf(happening))
      return stderr.isTTY === true
    },
    sent: (label = 'Another computer', { type, dataName, size }) => {
      const words = { Text: 'a text', Group: 'several files', Image: dataName, File: dataName }
      tell(`${label} sent ${words[type]} (${formatBytes(size)})`)
    },
  }
}

/** The very first start ends with something to scan. @returns Whether it was shown. */
async function pairFirst({ admin, warnings }: Daemon, call: Invocation, hints: readonly string[]) {
  if ((await admin.devices()).length > 0) return false
  const { pairAndShow } = await import('./pair.ts')
  const nothing = { label: undefined, username: undefined, password: undefined, url: undefined }
  try {
    await pairAndShow(admin, { kind: 'phone', ...nothing }, call, { hints, told: warnings })
    return true
  } catch (error) {
    // The daemon runs nevertheless, and "clipgate pair" can be tried again.
    complain(call.shell, `Warning: cannot pair a first device: ${messageOf(error)}`)
    return false
  }
}

/** Resolves with the first signal. The second ends the program at once, as the shell expects. */
function listenForSignals(): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const name of STOP_SIGNALS) {
      process.on(name, () => {
        if (isStopping) process.exit(128 + constants.signals[name])
        isStopping = true
        resolve(name)
      })
    }
  })
}

/**
 * From now on, exceptions and rejections that nobody handles are logged, once each; see
 * docs/decisions/014-unhandled-failures.md. For a program only: a library leaves the process alone.
 */
function surviveFailures(logger: Logger): void {
  // Node raises rejections here too.
  process.on('uncaughtException', (thrown, origin) => {
    const id = randomBytes(6).toString('hex')
    logger.error('Something failed that nobody handles', { id, origin, ...describeFailure(thrown) })
  })
}

/** Folders that npm and npx put on the path of what they start, and of nothing else. */
const OF_NPM = /[/\\]node_modules[/\\]\.bin[/\\]?$/

/** Characters that mean nothing to a shell. */
const PLAIN = /^[\w@%+=:,./\\-]+$/

/** Says how to call this program; `undefined` where a shell finds it by its name. */
async function explainCall({ where }: Pick<Shell, 'where'>, program: string) {
  const folders = (where.environment['PATH'] ?? '').split(delimiter)
  const lasting = folders.filter((folder) => !OF_NPM.test(folder)).join(delimiter)
  if ((await findProgram('clipgate', { PATH: lasting })) !== undefined) return undefined
  const { findLauncher } = await import('../daemon/package-files.ts')
  const launcher = findLauncher(where.platform)
  const words = launcher === undefined ? ['node', program] : [launcher]
  const line = words.map((word) => (PLAIN.test(word) ? word : `"${word}"`)).join(' ')
  return `clipgate is not on your PATH: where it says "clipgate", type: ${line}`
}
