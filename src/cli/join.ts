/**
 * `clipgate join`.
 *
 * @module
 */

import { readLink } from './choose-server.ts'
import type { SettingsInvocation } from './command.ts'
import { Input } from './input.ts'
import { peerToJson } from './peers.ts'
import { print, printJson } from './shell.ts'
import { visible } from './visible.ts'
import { withAdmin } from './with-admin.ts'

export async function runJoin(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const input = new Input(shell)
  try {
    const link = await readLink(call, input)
    const request = { link, name: args.text('name'), tlsFingerprint: args.text('tls-fingerprint') }
    const peer = await withAdmin(call, (admin) => admin.join(request))
    if (args.flag('json')) printJson(shell, peerToJson(peer))
    else {
      const { name, url, state } = peer
      const next =
        state === 'stopped' ? 'they are linked once the daemon runs' : 'see clipgate peers'
      print(shell, `Joined ${visible(name)} (${visible(url)}); ${next}.`)
    }
    return 0
  } finally {
    input.close()
  }
}
