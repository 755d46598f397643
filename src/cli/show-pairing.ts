/**
 * Shows, once, what connects a device.
 *
 * @module
 */

import type { Pairing } from '../daemon/open-admin.ts'
import { Printing } from './printing.ts'
import { drawQr } from './qr.ts'
import { columnsOf, complain, print, printJson, type Shell } from './shell.ts'
import { visible } from './visible.ts'

/**
 * Shows a pairing in one of both ways. Nobody can be shown it again.
 *
 * @returns What kept it from being shown, if anything did.
 */
export async function showOnce(
  shell: Shell,
  pairing: Pairing,
  { isJson }: { readonly isJson: boolean },
): Promise<string | undefined> {
  const printing = new Printing(shell)
  try {
    if (isJson) printPairing(shell, pairing)
    else await showPairing(shell, pairing)
    return await printing.failure()
  } finally {
    printing.close()
  }
}

/** Prints a pairing for people: QR code, link, user name and password. */
export async function showPairing(shell: Shell, pairing: Pairing): Promise<void> {
  const columns = columnsOf(shell)
  const qr = await drawQr(pairing.link)
  if (columns === undefined || columns >= qr.columns) {
    for (const line of qr.lines) print(shell, line)
    print(shell, '')
    print(shell, 'Scan it with an app that opens "clip://" connect links. In other apps that speak')
    print(shell, 'the SyncClipboard protocol, enter the url, user and password by hand.')
  } else {
    print(shell, `The QR code needs a window ${qr.columns} columns wide. Or use these:`)
  }
  print(shell, '')
  print(shell, `  device    ${visible(pairing.label)}`)
  print(shell, `  url       ${visible(pairing.url)}`)
  print(shell, `  user      ${visible(pairing.username)}`)
  print(shell, `  password  ${visible(pairing.password)}`)
  print(shell, '  link')
  // At the start of a line, so that it can be copied whole.
  print(shell, visible(pairing.link))
  print(shell, '')
  print(shell, 'The password is shown this once.')
  warn(shell, pairing)
}

/** Prints a pairing for scripts. */
export function printPairing(shell: Shell, pairing: Pairing): void {
  const { id, kind, label, username, password, url, link } = pairing
  printJson(shell, { id, kind, label, username, password, url, link })
  warn(shell, pairing)
}

function warn(shell: Shell, { warning }: Pairing): void {
  if (warning !== undefined) complain(shell, `Warning: ${warning}`)
}
