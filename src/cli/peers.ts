/** `clipgate join`, `clipgate leave` and `clipgate peers`: other daemons to share with. @module */

import type { PeerSummary } from '../ports/peers.ts'
import { readLink } from './choose-server.ts'
import { CommandError, printResult, type SettingsInvocation } from './command.ts'
import { withInput } from './input.ts'
import { columnsOf } from './shell.ts'
import { formatTable } from './text-table.ts'
import { visible } from './visible.ts'
import { printNames, withAdmin } from './devices.ts'

const HEADING: readonly string[] = ['NAME', 'URL', 'STATE', 'LAST ERROR']

/** A name is what `leave` is told. */
const NARROWING = { whole: ['NAME'], spare: ['URL'] }

/** Runs `clipgate join`. */
export async function runJoin(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  return withInput(shell, async (input) => {
    const link = await readLink(call, input)
    const request = { link, name: args.text('name'), tlsFingerprint: args.text('tls-fingerprint') }
    const peer = await withAdmin(call, (admin) => admin.join(request))
    const { name, url, state } = peer
    const next = state === 'stopped' ? 'they are linked once the daemon runs' : 'see clipgate peers'
    printResult(call, toJson(peer), [`Joined ${visible(name)} (${visible(url)}); ${next}.`])
    return 0
  })
}

/** Runs `clipgate leave`. */
export async function runLeave(call: SettingsInvocation): Promise<number> {
  const [wanted = ''] = call.args.operands
  const { name } = await withAdmin(call, async (admin) => {
    return admin.leave(wanted).catch(async (error: unknown) => {
      const devices = await admin.devices()
      const joiner = devices.find(({ kind, label }) => kind === 'peer' && label === wanted)
      if (joiner === undefined) throw error
      const remedy = `to shut it out: clipgate revoke ${joiner.username}`
      throw new CommandError(`Cannot leave "${wanted}": it has joined this one; ${remedy}`)
    })
  })
  const line = `Left ${visible(name)}. There, "clipgate revoke" takes away what let us in.`
  printResult(call, { name }, [line])
  return 0
}

/** Runs `clipgate peers`. */
export async function runPeers(call: SettingsInvocation): Promise<number> {
  const { peers, joiners } = await withAdmin(call, async (admin) => {
    const joiners = (await admin.devices()).filter(({ kind }) => kind === 'peer')
    return { peers: await admin.peers(), joiners }
  })
  const names = peers.map(({ name }) => name)
  if (call.args.flag('names')) return printNames(call.shell, names)
  const rows = peers.map(({ name, url, state, error = '-' }) => {
    const remedy = state === 'refused' ? '; join again with a new link' : ''
    return [name, url, state, error + remedy]
  })
  const from = joiners.map(({ label, lastSeenAddress = '-', streams }) => {
    return [label, `from ${lastSeenAddress}`, streams > 0 ? 'connected' : 'away', '-']
  })
  const table = [HEADING, ...rows, ...from]
  const none = ['No daemon is joined. Join one: clipgate join']
  const lines = table.length === 1 ? none : formatTable(table, columnsOf(call.shell), NARROWING)
  printResult(call, peers.map(toJson), lines)
  return 0
}

/** The members that scripts rely on, in their order. */
function toJson(peer: PeerSummary): object {
  const { name, url, username, tlsFingerprint, state, error } = peer
  return { name, url, username, tlsFingerprint, state, error }
}
