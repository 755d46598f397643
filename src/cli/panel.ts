/**
 * `clipgate panel`.
 *
 * The browser is given a private file that leads to the panel, and not the address itself: other
 * users of the machine can read the arguments of programs, and what is in it opens the panel once.
 *
 * @module
 */

import { join } from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'
import type { SettingsInvocation } from './command.ts'
import { needRunning } from './need-running.ts'
import { hasDesktop, isRemote, openBrowser } from './open-browser.ts'
import { complain, print, printJson, type Shell } from './shell.ts'

/** In the data directory, where the next one takes its place. A ticket in it that was used is none. */
export const OPENING_FILE = 'open-panel.html'

export async function runPanel(call: SettingsInvocation): Promise<number> {
  const { shell, args, settings } = call
  const running = await needRunning(call, 'open the panel')
  const url = await running.ticket()
  if (args.flag('json')) {
    printJson(shell, { url })
    return 0
  }
  const isForBrowser = !args.flag('print') && hasDesktop(shell.where)
  if (isForBrowser && (await openFile(url, settings.dataDir, shell))) {
    print(shell, 'The panel opens in your browser. If it does not: clipgate panel --print')
    return 0
  }
  print(shell, url)
  complain(shell, 'Open this URL in a browser within a minute; it works once.')
  if (isRemote(shell.where)) complain(shell, forwardingHint(url))
  return 0
}

async function openFile(url: string, dataDir: string, { where }: Shell): Promise<boolean> {
  const path = join(dataDir, OPENING_FILE)
  await replaceFile(path, pageTo(url))
  return openBrowser(path, where)
}

/** Loopback of another machine can be reached through the connection that is there already. */
function forwardingHint(url: string): string {
  const { host } = new URL(url)
  return `On another machine, forward the port first: ssh -L ${host}:${host} USER@THIS-MACHINE`
}

/** A form that sends itself: what is posted is in no address, and so in no history. */
function pageTo(url: string): string {
  // Nothing in it needs to be escaped: an address as the parser spells it, a ticket in base64url.
  const { origin, pathname, searchParams } = new URL(url)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>clipgate</title>
<form method="post" action="${origin}${pathname}">
<input type="hidden" name="ticket" value="${searchParams.get('ticket') ?? ''}">
<button>Open the panel</button>
</form>
<script>document.forms[0].submit()</script>
</html>
`
}
