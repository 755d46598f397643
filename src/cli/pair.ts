/**
 * `clipgate pair`.
 *
 * @module
 */

import type { Admin } from '../daemon/open-admin.ts'
import { BASE_URL } from '../daemon/setting-kinds.ts'
import { CommandError, UsageError, type Invocation, type SettingsInvocation } from './command.ts'
import { Input } from './input.ts'
import { showOnce } from './show-pairing.ts'
import { withAdmin } from './with-admin.ts'

export async function runPair(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const kind = args.text('kind') ?? 'phone'
  if (kind !== 'phone' && kind !== 'peer') {
    throw new UsageError(['Cannot use --kind: it must be phone or peer'])
  }
  const url = parseUrl(args.text('url'))
  const password = args.flag('password-stdin') ? await readPassword(call) : undefined

  const request = {
    kind,
    label: args.text('label'),
    username: args.text('username'),
    password,
    url,
  } as const
  await withAdmin(call, (admin) => pairAndShow(admin, request, { shell, args }))
  return 0
}

/**
 * Pairs a device, unless nobody gets to see its password: then it is removed again.
 *
 * @throws {CommandError} when it could not be shown.
 */
export async function pairAndShow(
  admin: Pick<Admin, 'pair' | 'revoke'>,
  request: Parameters<Admin['pair']>[0],
  { shell, args }: Invocation,
): Promise<void> {
  const pairing = await admin.pair(request)
  const failure = await showOnce(shell, pairing, { isJson: args.flag('json') })
  if (failure === undefined) return
  const { id } = pairing
  const state = await admin.revoke(id).then(
    ({ unsaved }) => `it was removed again${unsaved === undefined ? '' : `, but ${unsaved}`}`,
    // The first failure is the one to be told; this is what can be done about both.
    () => `remove it: clipgate revoke ${id}`,
  )
  throw new CommandError(`Cannot show the device that was paired: ${failure}; ${state}`)
}

function parseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  try {
    return BASE_URL.decode(text, '')
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError([`Cannot use --url: it ${error.message}`])
    throw error
  }
}

async function readPassword({ shell }: SettingsInvocation): Promise<string> {
  const input = new Input(shell)
  try {
    return await input.readLine('password')
  } finally {
    input.close()
  }
}
