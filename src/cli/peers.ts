/**
 * `clipgate peers`.
 *
 * @module
 */

import type { PeerSummary } from '../daemon/open-admin.ts'
import type { SettingsInvocation } from './command.ts'
import { columnsOf, print, printJson } from './shell.ts'
import { formatTable } from './text-table.ts'
import { withAdmin } from './with-admin.ts'

const HEADING: readonly string[] = ['NAME', 'URL', 'STATE', 'LAST ERROR']

export async function runPeers(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const peers = await withAdmin(call, (admin) => admin.peers())
  if (args.flag('json')) printJson(shell, peers.map(peerToJson))
  else if (peers.length === 0) print(shell, 'No daemon is joined. Join one: clipgate join')
  else {
    const rows = peers.map(({ name, url, state, error = '-' }) => [name, url, state, error])
    for (const line of formatTable([HEADING, ...rows], columnsOf(shell))) print(shell, line)
  }
  return 0
}

/** The members that scripts rely on, in their order. */
export function peerToJson(peer: PeerSummary): object {
  const { name, url, username, tlsFingerprint, state, error } = peer
  return { name, url, username, tlsFingerprint, state, error }
}
