/**
 * `clipgate serve`: runs the daemon until a signal ends it.
 *
 * @module
 */

import { constants } from 'node:os'
import { startDaemon, type Daemon } from '../daemon/start-daemon.ts'
import type { SettingsInvocation } from './command.ts'
import { complain, print, printJson, type Shell } from './shell.ts'
import { printPairing, showPairing } from './show-pairing.ts'

// The window was closed (SIGHUP) like asked to stop: an upload in flight does not care which.
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export async function runServe({ shell, args, settings }: SettingsInvocation): Promise<number> {
  const isJson = args.flag('json')
  const signalled = listenForSignals()
  const daemon = await startDaemon(settings)

  const { gateway, control, mode, clipboard, pid } = daemon.ready
  if (isJson) printJson(shell, { event: 'ready', gateway, control, mode, clipboard, pid })
  for (const warning of daemon.warnings) complain(shell, `Warning: ${warning}`)
  const isWatched = shell.stdout.isTTY === true && !isJson
  if (settings.pairFirst || isWatched) await pairFirst(daemon, shell, isJson)
  if (!isJson) {
    const what = mode === 'headless' ? 'headless' : `desktop, clipboard ${clipboard}`
    print(shell, `clipgate is ready: ${gateway} (${what}); control ${control}; process ${pid}`)
  }

  await signalled
  await daemon.stop()
  return 0
}

/** The very first start ends with something to scan. */
async function pairFirst(
  { admin, warnings }: Daemon,
  shell: Shell,
  isJson: boolean,
): Promise<void> {
  if ((await admin.devices()).length > 0) return
  const nothing = { label: undefined, username: undefined, password: undefined, url: undefined }
  try {
    const { warning, ...rest } = await admin.pair({ kind: 'phone', ...nothing })
    const isSaid = warning !== undefined && warnings.includes(warning)
    const pairing = { ...rest, warning: isSaid ? undefined : warning }
    if (isJson) printPairing(shell, pairing)
    else await showPairing(shell, pairing)
  } catch (error) {
    // The daemon runs all the same, and "clipgate pair" can be tried again.
    complain(
      shell,
      `Warning: cannot pair a first device: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** Resolves at the first signal. The second one ends the program at once, as the shell expects. */
function listenForSignals(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const name of SIGNALS) {
      process.on(name, () => {
        if (isStopping) process.exit(128 + constants.signals[name])
        isStopping = true
        resolve()
      })
    }
  })
}
