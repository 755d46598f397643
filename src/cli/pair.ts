/** `clipgate pair` and `clipgate rotate`: show, once, what connects a device. @module */

import { fstatSync, type Stats } from 'node:fs'
import { BASE_URL } from '../daemon/setting-kinds.ts'
import { shortPageLink } from '../link/connect-link.ts'
import type { Admin, DaemonStatus, Pairing } from '../ports/admin.ts'
import {
  CommandError,
  Printing,
  UsageError,
  type Invocation,
  type SettingsInvocation,
} from './command.ts'
import { findDevice, withAdmin } from './devices.ts'
import { withInput } from './input.ts'
import { drawFittingQr } from './qr.ts'
import { decodeAs } from './setting-options.ts'
import { columnsOf, complain, print, printJson, rowsOf, showsColours, type Shell } from './shell.ts'
import { reachable } from './status.ts'
import { wrap } from './text-table.ts'
import { visible } from './visible.ts'

/** Runs `clipgate pair`. */
export async function runPair(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const kind = args.text('kind') ?? 'phone'
  if (kind !== 'phone' && kind !== 'peer') {
    throw new UsageError(['Cannot use --kind: it must be phone or peer'])
  }
  checkQr(call)
  const text = args.text('url')
  const url = text === undefined ? undefined : decodeAs(BASE_URL, text, 'Cannot use --url: it')
  const password = args.flag('password-stdin')
    ? await withInput(shell, (input) => input.readLine('password'))
    : undefined
  const [label, username] = [args.text('label'), args.text('username')]
  const isSecure = args.flag('https')
  if (isSecure && url !== undefined) throw new UsageError(['Cannot use --https with --url'])
  const request = { kind, label, username, password } as const
  await withAdmin(call, async (admin) => {
    const status = await admin.status()
    const base = isSecure ? secureUrl(status) : url
    const hints = [...needsStart(status), ...(isSecure ? needsTrust(status) : [])]
    return pairAndShow(admin, { ...request, url: base }, call, { hints })
  })
  return 0
}

/** Says what comes before a device can connect, if no daemon runs. */
function needsStart({ running }: DaemonStatus): readonly string[] {
  return running ? [] : ['Start clipgate first: clipgate serve']
}

/** Says what comes before a phone opens an https URL, if the authority is ours. */
function needsTrust({ tls, listeners, settings }: DaemonStatus): readonly string[] {
  const plain = listeners.find(({ name }) => name === 'gateway')?.urls ?? []
  const hosts = tls?.urls.map((secure) => new URL(secure).hostname)
  const url = plain
    .flatMap((bound) => reachable(bound, settings?.publicUrl))
    .find((one) => hosts?.includes(new URL(one).hostname))
  if (tls?.fingerprint === undefined || url === undefined) return []
  return [`Trust it first, on the phone: ${url}/phone/trust`]
}

/** The https URL that a phone may use. @throws {CommandError} when there is none. */
function secureUrl({ tls }: DaemonStatus): string {
  const [url] = tls?.urls ?? []
  if (url !== undefined) return url
  const reason =
    tls === undefined
      ? 'no daemon serves HTTPS here: clipgate serve --tls local'
      : 'the certificate names no address of this machine; give a URL with --url'
  throw new CommandError(`Cannot use --https: ${reason}`)
}

/** Runs `clipgate rotate`. */
export async function runRotate(call: SettingsInvocation): Promise<number> {
  checkQr(call)
  const [device = ''] = call.args.operands
  const { pairing, hints } = await withAdmin(call, async (admin) => {
    const hints = needsStart(await admin.status())
    return { hints, pairing: await admin.rotate((await findDevice(admin, device)).id) }
  })
  const failure = await showOnce(call, pairing, { hints })
  if (failure === undefined) return 0
  // The old password is gone for good: it was kept nowhere.
  const remedy = 'the old one fails already: rotate again'
  throw new CommandError(`Cannot show the new password: ${failure}; ${remedy}`)
}

interface Around {
  /** Lines that stand below its code. */
  readonly hints?: readonly string[]
  /** Warnings that were told before. */
  readonly told?: readonly string[]
}

/**
 * Pairs a device.
 *
 * @throws {CommandError} when nobody was shown it; then it is removed again.
 */
export async function pairAndShow(
  admin: Pick<Admin, 'pair' | 'revoke'>,
  request: Parameters<Admin['pair']>[0],
  call: Invocation,
  around: Around = {},
): Promise<void> {
  const pairing = await admin.pair(request)
  const failure = await showOnce(call, pairing, around)
  if (failure === undefined) return
  const { id } = pairing
  const state = await admin.revoke(id).then(
    ({ unsaved }) => `it was removed again${unsaved === undefined ? '' : `, but ${unsaved}`}`,
    // The first failure is the one to be told; this is what can be done about both.
    () => `remove it: clipgate revoke ${id}`,
  )
  throw new CommandError(`Cannot show the device that was paired: ${failure}; ${state}`)
}

/** The rows besides the code: what to do with it, and a prompt of two. */
const ROWS_BESIDES = 3

const SCAN_PAGE = "Scan this with the phone's camera."
const SCAN_LINK = 'Scan this with an app for "clip://" links.'

const FOR_APPS = 'The password is shown this once. Apps take the link, or url, user and password.'

const FOR_PEERS =
  'The password is shown this once. On the other computer type "clipgate join", and paste the ' +
  'link there.'

/** Shows a pairing to people or scripts. @returns What kept it from being shown, if anything. */
async function showOnce(
  { shell, args }: Invocation,
  pairing: Pairing,
  { hints = [], told = [] }: Around = {},
): Promise<string | undefined> {
  const printing = new Printing(shell)
  try {
    const { id, kind, label, username, password, url, link, page, warning } = pairing
    const value = { id, kind, label, username, password, url, link, page }
    // Before the code, which has all the rows of a small window.
    const isNews = warning !== undefined && !told.includes(warning)
    if (isNews) complain(shell, `Warning: ${warning}`)
    if (args.flag('json')) printJson(shell, value)
    else await showPairing(shell, pairing, args.text('qr'), hints)
    tellOfFile(shell, args.flag('json'))
    return await printing.failure()
  } finally {
    printing.close()
  }
}

const RIGHTS_OF_OTHERS = 0o077

const PRIVATE_FILE = 'This file holds a password: delete it once it was used'

const READABLE_FILE =
  'Warning: this file holds a password, and others can read it: chmod 600 it; "umask 077" first ' +
  'keeps the next one private'

/** Says that a password is in a file now, and who can read it. Scripts know the first. */
function tellOfFile(shell: Shell, isScript: boolean): void {
  const stats = statsOf(shell)
  if (stats?.isFile() !== true) return
  // Windows has no such rights.
  const isPrivate = shell.where.platform === 'win32' || (stats.mode & RIGHTS_OF_OTHERS) === 0
  if (!isPrivate) complain(shell, READABLE_FILE)
  else if (!isScript) complain(shell, PRIVATE_FILE)
}

function statsOf({ stdout: { fd } }: Shell): Stats | undefined {
  try {
    return fd === undefined ? undefined : fstatSync(fd)
  } catch {
    // It is no file, then: pipes and consoles of Windows cannot be asked.
    return undefined
  }
}

const NO_ROOM =
  'This window has no room for a QR code. Make it larger and use "clipgate rotate", or get one ' +
  'in the browser: "clipgate panel", Add a device.'

const NO_COLOURS =
  'A QR code needs colours, which NO_COLOR or TERM=dumb switches off. Get one in the browser: ' +
  '"clipgate panel", Add a device.'

/**
 * Prints a pairing for people: user name, password, links; and last, so that they stay in the
 * window, the code and what to do with it. A computer scans none.
 */
async function showPairing(
  shell: Shell,
  pairing: Pairing,
  qr: string | undefined,
  hints: readonly string[],
): Promise<void> {
  const { username, password, url, link } = pairing
  const page = qr === 'link' ? undefined : pairing.page
  const say = (text: string) => wrap(text, columnsOf(shell))
  const below = [page === undefined ? SCAN_LINK : SCAN_PAGE, ...hints.flatMap(say)]
  const room = {
    columns: columnsOf(shell) ?? Number.POSITIVE_INFINITY,
    // The cursor has a row, too.
    rows: (rowsOf(shell) ?? Number.POSITIVE_INFINITY) - Math.max(ROWS_BESIDES, below.length + 1),
  }
  const forPeer = pairing.kind === 'peer' && qr === undefined
  const texts = page === undefined ? [link] : [page, shortPageLink(url, username, password)]
  const isDrawn = showsColours(shell) && !forPeer
  const code = isDrawn ? await drawFittingQr(texts, room) : undefined
  const lines = [
    `  device    ${visible(pairing.label)}`,
    `  url       ${visible(url)}`,
    `  user      ${visible(username)}`,
    `  password  ${visible(password)}`,
    // At the start of a line, so that it can be copied whole.
    ...(page === undefined ? [] : ['  page', visible(page)]),
    '  link',
    visible(link),
    '',
    ...say(forPeer ? FOR_PEERS : FOR_APPS),
    ...(isDrawn
      ? ['', ...(code === undefined ? [...say(NO_ROOM), ...hints] : [...code.lines, ...below])]
      : []),
    ...(isDrawn || forPeer || shell.stdout.isTTY !== true
      ? []
      : ['', ...say(NO_COLOURS), ...hints]),
  ]
  for (const line of lines) print(shell, line)
}

/** Checks `--qr`. @throws {UsageError} */
function checkQr({ args }: Invocation): void {
  if (['page', 'link', undefined].includes(args.text('qr'))) return
  throw new UsageError(['Cannot use --qr: it must be page or link'])
}
