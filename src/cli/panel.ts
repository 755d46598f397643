/**
 * `clipgate panel`.
 *
 * @module
 */

import { writeOpeningFile } from '../daemon/opening-file.ts'
import type { SettingsInvocation } from './command.ts'
import { needRunning } from './need-running.ts'
import { hasDesktop, isRemote, openBrowser } from './open-browser.ts'
import { complain, print, printJson } from './shell.ts'

export async function runPanel(call: SettingsInvocation): Promise<number> {
  const { shell, args, settings } = call
  const running = await needRunning(call, 'open the panel')
  const url = await running.panelUrl()
  if (args.flag('json')) {
    printJson(shell, { url })
    return 0
  }
  const isForBrowser = !args.flag('print') && hasDesktop(shell.where)
  if (isForBrowser) {
    const path = await writeOpeningFile(settings.dataDir, url)
    if (await openBrowser(path, shell.where)) {
      print(shell, 'The panel opens in your browser. If it does not: clipgate panel --print')
      return 0
    }
  }
  print(shell, url)
  complain(
    shell,
    'Open this URL in a browser. Whoever has it can use the panel until the daemon stops.',
  )
  if (isRemote(shell.where)) complain(shell, forwardingHint(url))
  return 0
}

/** Loopback of another machine can be reached through the connection that is there already. */
function forwardingHint(url: string): string {
  const { host } = new URL(url)
  return `On another machine, forward the port first: ssh -L ${host}:${host} USER@THIS-MACHINE`
}
