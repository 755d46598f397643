/**
 * `clipgate group`: the key of a group that uses a bus.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { Admin } from '../daemon/open-admin.ts'
import { placeGroupKey, removeGroupKey } from '../daemon/group-files.ts'
import { UsageError, type SettingsInvocation } from './command.ts'
import { Input } from './input.ts'
import { tellUnsaved } from './revoke.ts'
import { print, printJson } from './shell.ts'
import { visible } from './visible.ts'
import { withAdmin } from './with-admin.ts'

export async function runGroup(call: SettingsInvocation): Promise<number> {
  const [action] = call.args.operands
  if (action === 'new') return place(call, undefined)
  if (action === 'leave') return leave(call)
  if (action === 'import') {
    const input = new Input(call.shell)
    try {
      return await place(call, await input.readLine('group key'))
    } finally {
      input.close()
    }
  }
  throw new UsageError(['Cannot run "group": usage: clipgate group new|import|leave'])
}

async function place(call: SettingsInvocation, text: string | undefined): Promise<number> {
  const { shell, args } = call
  const replace = args.flag('force')
  // A daemon does not write this file, and without one we hold its folder.
  const { path, group, running } = await withAdmin(call, async (admin) => {
    const { running, storage } = await admin.status()
    const own = text === undefined ? {} : { text }
    return { running, ...(await placeGroupKey({ dataDir: storage.dataDir, replace, ...own })) }
  })
  if (args.flag('json')) printJson(shell, { path, group, running })
  else {
    print(shell, `The key of group ${group} is in ${visible(path)}.`)
    if (text === undefined) {
      print(shell, 'Bring it to every other member, over a way that nobody else reads:')
      print(shell, '  copy the file into the data directory there, or')
      print(shell, `  ssh MEMBER clipgate group import < ${visible(path)}`)
    }
    print(shell, running ? RESTART : 'Start the daemon with --bus.')
  }
  return 0
}

const RESTART = 'The daemon that runs uses it from its next start with --bus on.'

async function leave(call: SettingsInvocation): Promise<number> {
  const { shell, args } = call
  const { running, unsaved } = await withAdmin(call, async (admin) => {
    const { running, storage } = await admin.status()
    const username = await removeGroupKey(storage.dataDir)
    const unsaved = username === undefined ? undefined : await revoke(admin, username)
    return { running, unsaved }
  })
  if (args.flag('json')) printJson(shell, { running })
  else {
    print(shell, 'Left the group: its key is gone, and members cannot read here any more.')
    if (running)
      print(
        shell,
        'The daemon that runs listens to the bus until it is stopped; start it without --bus.',
      )
    print(
      shell,
      'Whoever had the key still has it: if it may be known, make a new one for the others.',
    )
  }
  return tellUnsaved(shell, unsaved)
}

/** It is there once the daemon was started with a bus. */
async function revoke(admin: Admin, username: string): Promise<string | undefined> {
  try {
    return (await admin.revoke(username)).unsaved
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'NO_SUCH_DEVICE') throw error
    return undefined
  }
}
