/**
 * Finds out which server `pull`, `push` and `watch` talk to.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { codeOf } from '../lib/system-error.ts'
import { parseConnectLink } from '../link/connect-link.ts'
import { LinkError } from '../link/link-error.ts'
import { CommandError, type Invocation } from './command.ts'
import type { Input } from './input.ts'
import { readSavedServer, type Server } from './saved-server.ts'

const LINK = /^clip:\/\//i

/**
 * The server of `--link-file`, else the saved one, else that of the first line of stdin.
 *
 * @throws {CommandError}
 */
export async function chooseServer({ shell, args }: Invocation, input: Input): Promise<Server> {
  const file = args.text('link-file')
  if (file !== undefined && file !== '-')
    return parseLink(await readLinkFile(resolve(shell.cwd, file)))
  // What is saved already need not be saved again: with --save there is a new link.
  const saved = file === undefined && !args.flag('save') ? await readSavedServer(shell) : undefined
  return saved ?? parseLink(await input.readLine('connect link'))
}

/**
 * The connect link of `--link-file`, else the first line of stdin.
 *
 * @throws {CommandError}
 */
export async function readLink({ shell, args }: Invocation, input: Input): Promise<string> {
  const file = args.text('link-file')
  if (file === undefined || file === '-') return input.readLine('connect link')
  return (await readLinkFile(resolve(shell.cwd, file))).trim()
}

/** What `pair` has printed is a link file as well: the link is a line of its own in it. */
async function readLinkFile(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    return text.split('\n').find((line) => LINK.test(line)) ?? text
  } catch (error) {
    const reason = codeOf(error) ?? 'unknown error'
    throw new CommandError(`Cannot read the link file "${path}": ${reason}`)
  }
}

function parseLink(text: string): Server {
  try {
    const { url, user, pwd } = parseConnectLink(text)
    return { url, user, pwd }
  } catch (error) {
    if (!(error instanceof LinkError)) throw error
    throw new CommandError(`Cannot use the connect link: ${error.code}: ${error.message}`)
  }
}
