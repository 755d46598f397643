/** `clipgate group`: the key of a group that uses a bus. @module */

import { DomainError } from '../core/domain-error.ts'
import { placeCircleKey, removeCircleKey } from '../daemon/circle-files.ts'
import type { Admin } from '../ports/admin.ts'
import { printResult, type SettingsInvocation } from './command.ts'
import { tellUnsaved, withAdmin } from './devices.ts'
import { withInput } from './input.ts'
import { visible } from './visible.ts'

const RESTART = 'The daemon that runs uses it from its next start with --bus on.'

/** Runs `clipgate group`. */
export async function runGroup(call: SettingsInvocation): Promise<number> {
  const [action] = call.args.operands
  if (action === 'new') return place(call, undefined)
  if (action === 'leave') return leave(call)
  return withInput(call.shell, async (input) => place(call, await input.readLine('group key')))
}

async function place(call: SettingsInvocation, text: string | undefined): Promise<number> {
  const replace = call.args.flag('force')
  // A daemon does not write this file, and without one we hold its folder.
  const { path, group, running } = await withAdmin(call, async (admin) => {
    const { running, storage } = await admin.status()
    const own = text === undefined ? {} : { text }
    return { running, ...(await placeCircleKey({ dataDir: storage.dataDir, replace, ...own })) }
  })
  const bring = [
    'Bring it to every other member, over a way that nobody else reads:',
    '  copy the file into the data directory there, or',
    `  ssh MEMBER clipgate group import < ${visible(path)}`,
  ]
  const next = running ? RESTART : 'Start the daemon with --bus.'
  const where = `The key of group ${group} is in ${visible(path)}.`
  const lines = [where, ...(text === undefined ? bring : []), next]
  printResult(call, { path, group, running }, lines)
  return 0
}

async function leave(call: SettingsInvocation): Promise<number> {
  const { running, unsaved } = await withAdmin(call, async (admin) => {
    const { running, storage } = await admin.status()
    const username = await removeCircleKey(storage.dataDir)
    const unsaved = username === undefined ? undefined : await revoke(admin, username)
    return { running, unsaved }
  })
  const still =
    'The daemon that runs listens to the bus until it is stopped; start it without --bus.'
  printResult(call, { running }, [
    'Left the group: its key is gone, and members cannot read here any more.',
    ...(running ? [still] : []),
    'Whoever had the key still has it: if it may be known, make a new one for the others.',
  ])
  return tellUnsaved(call.shell, unsaved)
}

/** Revokes the device of the group, which exists once the daemon was started with a bus. */
async function revoke(admin: Admin, username: string): Promise<string | undefined> {
  try {
    return (await admin.revoke(username)).unsaved
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'NO_SUCH_DEVICE') throw error
    return undefined
  }
}
