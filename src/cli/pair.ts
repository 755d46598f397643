/**
 * `clipgate pair`.
 *
 * @module
 */

import { BASE_URL } from '../daemon/setting-kinds.ts'
import { UsageError, type SettingsInvocation } from './command.ts'
import { Input } from './input.ts'
import { printPairing, showPairing } from './show-pairing.ts'
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
  const pairing = await withAdmin(call, (admin) => admin.pair(request))
  if (args.flag('json')) printPairing(shell, pairing)
  else await showPairing(shell, pairing)
  return 0
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
