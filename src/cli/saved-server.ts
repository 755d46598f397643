/**
 * The server that `--save` remembers: its address, user name and password, in a private file. Never
 * the link itself.
 *
 * @module
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { configFolder } from '../daemon/folders.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import { decodeString, objectOf } from '../lib/decoder.ts'
import { hasCode } from '../lib/system-error.ts'
import { CommandError } from './command.ts'
import type { Shell } from './shell.ts'

/** What a client needs to connect. */
export interface Server {
  readonly url: string
  readonly user: string
  readonly pwd: string
}

const decodeServer = objectOf({ url: decodeString, user: decodeString, pwd: decodeString })

/** @throws {CommandError} when there is a file that cannot be used. */
export async function readSavedServer(shell: Shell): Promise<Server | undefined> {
  const path = pathOf(shell)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return decodeServer(JSON.parse(text))
  } catch {
    // The cause would quote the password.
    throw new CommandError(`Cannot use "${path}": it is damaged; remove it, and use --save again`)
  }
}

export async function saveServer(shell: Shell, { url, user, pwd }: Server): Promise<void> {
  await mkdir(configFolder(shell.where), { recursive: true, mode: 0o700 })
  await writeFileAtomically(pathOf(shell), `${JSON.stringify({ url, user, pwd })}\n`)
}

function pathOf({ where }: Shell): string {
  return join(configFolder(where), 'server.json')
}
