/** `clipgate pair` and `clipgate rotate`: show, once, what connects a device. @module */

import { BASE_URL } from '../daemon/setting-kinds.ts'
import type { Admin, Pairing } from '../ports/admin.ts'
import { CommandError, UsageError, type Invocation, type SettingsInvocation } from './command.ts'
import { withInput } from './input.ts'
import { Printing } from './printing.ts'
import { drawQr } from './qr.ts'
import { decodeAs } from './setting-options.ts'
import { columnsOf, complain, print, printJson, type Shell } from './shell.ts'
import { visible } from './visible.ts'
import { withAdmin } from './with-admin.ts'

/** Runs `clipgate pair`. */
export async function runPair(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const kind = args.text('kind') ?? 'phone'
  if (kind !== 'phone' && kind !== 'peer') {
    throw new UsageError(['Cannot use --kind: it must be phone or peer'])
  }
  const text = args.text('url')
  const url = text === undefined ? undefined : decodeAs(BASE_URL, text, 'Cannot use --url: it')
  const password = args.flag('password-stdin')
    ? await withInput(shell, (input) => input.readLine('password'))
    : undefined
  const [label, username] = [args.text('label'), args.text('username')]
  const request = { kind, label, username, password, url } as const
  await withAdmin(call, (admin) => pairAndShow(admin, request, call))
  return 0
}

/** Runs `clipgate rotate`. */
export async function runRotate(call: SettingsInvocation): Promise<number> {
  const [device = ''] = call.args.operands
  const pairing = await withAdmin(call, (admin) => admin.rotate(device))
  const failure = await showOnce(call, pairing)
  if (failure === undefined) return 0
  // The old password is gone for good: it was kept nowhere.
  const remedy = 'the old one fails already: rotate again'
  throw new CommandError(`Cannot show the new password: ${failure}; ${remedy}`)
}

/** Pairs a device. @throws {CommandError} when nobody was shown it; then it is removed again. */
export async function pairAndShow(
  admin: Pick<Admin, 'pair' | 'revoke'>,
  request: Parameters<Admin['pair']>[0],
  call: Invocation,
): Promise<void> {
  const pairing = await admin.pair(request)
  const failure = await showOnce(call, pairing)
  if (failure === undefined) return
  const { id } = pairing
  const state = await admin.revoke(id).then(
    ({ unsaved }) => `it was removed again${unsaved === undefined ? '' : `, but ${unsaved}`}`,
    // The first failure is the one to be told; this is what can be done about both.
    () => `remove it: clipgate revoke ${id}`,
  )
  throw new CommandError(`Cannot show the device that was paired: ${failure}; ${state}`)
}

const SCAN_IT = [
  'Scan it with an app that opens "clip://" connect links. In other apps that speak',
  'the SyncClipboard protocol, enter the url, user and password by hand.',
]

/** Shows a pairing to people or scripts. @returns What kept it from being shown, if anything. */
async function showOnce(
  { shell, args }: Invocation,
  pairing: Pairing,
): Promise<string | undefined> {
  const printing = new Printing(shell)
  try {
    const { id, kind, label, username, password, url, link, warning } = pairing
    const value = { id, kind, label, username, password, url, link }
    if (args.flag('json')) printJson(shell, value)
    else await showPairing(shell, pairing)
    if (warning !== undefined) complain(shell, `Warning: ${warning}`)
    return await printing.failure()
  } finally {
    printing.close()
  }
}

/** Prints a pairing for people: QR code, link, user name and password. */
async function showPairing(shell: Shell, pairing: Pairing): Promise<void> {
  const columns = columnsOf(shell)
  const qr = await drawQr(pairing.link)
  const isWide = columns === undefined || columns >= qr.columns
  const lines = [
    ...(isWide
      ? [...qr.lines, '', ...SCAN_IT]
      : [`The QR code needs a window ${qr.columns} columns wide. Or use these:`]),
    '',
    `  device    ${visible(pairing.label)}`,
    `  url       ${visible(pairing.url)}`,
    `  user      ${visible(pairing.username)}`,
    `  password  ${visible(pairing.password)}`,
    '  link',
    // At the start of a line, so that it can be copied whole.
    visible(pairing.link),
    '',
    'The password is shown this once.',
  ]
  for (const line of lines) print(shell, line)
}
