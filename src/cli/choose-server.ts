/**
 * Finds out which server `pull`, `push` and `watch` talk to, and remembers it for `--save`: its
 * address, user name and password, in a private file. Never the link itself.
 * @module
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { connect, type Client } from '../client/connect.ts'
import type { Credentials } from '../client/server.ts'
import { configFolder } from '../daemon/folders.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import { decodeString, objectOf } from '../lib/decoder.ts'
import { codeOf, hasCode } from '../lib/system-error.ts'
import { parseJson } from '../lib/utf8.ts'
import { parseConnectLink } from '../link/connect-link.ts'
import { LinkError } from '../link/link-error.ts'
import { CommandError, type Invocation } from './command.ts'
import type { Input } from './input.ts'
import type { Shell } from './shell.ts'

const LINK = /^clip:\/\//i

/** The server of `--link-file`, else the saved one, else that on stdin. @throws {CommandError} */
export async function chooseServer(call: Invocation, input: Input): Promise<Credentials> {
  const { shell, args } = call
  // With --save there is a new link, since the saved server is saved already.
  const isNew = args.text('link-file') !== undefined || args.flag('save')
  const saved = isNew ? undefined : await readSavedServer(shell)
  return saved ?? parseLink(await readLink(call, input))
}

/**
 * A client of the server that {@link chooseServer} finds; with `--save`, one that let us in.
 *
 * @throws {CommandError}
 * @throws {ClientError} when the server to be saved does not answer, or not to us.
 */
export async function openClient(call: Invocation, input: Input): Promise<Client> {
  const server = await chooseServer(call, input)
  const client = connect(server)
  if (call.args.flag('save')) {
    await client.probe()
    await saveServer(call.shell, server)
  }
  return client
}

/** The connect link of `--link-file`, else the first line of stdin. @throws {CommandError} */
export async function readLink({ shell, args }: Invocation, input: Input): Promise<string> {
  const file = args.text('link-file')
  if (file === undefined || file === '-') return input.readLine('connect link')
  return (await readLinkFile(resolve(shell.cwd, file))).trim()
}

/** Reads a file with a link, or one with the output of `pair`, where the link has its own line. */
async function readLinkFile(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    return text.split('\n').find((line) => LINK.test(line)) ?? text
  } catch (error) {
    const reason = codeOf(error) ?? 'unknown error'
    throw new CommandError(`Cannot read the link file "${path}": ${reason}`)
  }
}

function parseLink(text: string): Credentials {
  try {
    const { url, user, pwd } = parseConnectLink(text)
    return { url, username: user, password: pwd }
  } catch (error) {
    if (!(error instanceof LinkError)) throw error
    throw new CommandError(`Cannot use the connect link: ${error.code}: ${error.message}`)
  }
}

const decodeServer = objectOf({ url: decodeString, user: decodeString, pwd: decodeString })

/** @throws {CommandError} when there is a file that cannot be used. */
async function readSavedServer(shell: Shell): Promise<Credentials | undefined> {
  const path = pathOf(shell)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    const { url, user, pwd } = decodeServer(parseJson(text))
    return { url, username: user, password: pwd }
  } catch {
    // The cause would quote the password.
    throw new CommandError(`Cannot use "${path}": it is damaged; remove it, and use --save again`)
  }
}

async function saveServer(shell: Shell, server: Credentials): Promise<void> {
  const { url, username: user, password: pwd } = server
  await mkdir(configFolder(shell.where), { recursive: true, mode: 0o700 })
  await writeFileAtomically(pathOf(shell), `${JSON.stringify({ url, user, pwd })}\n`)
}

function pathOf({ where }: Shell): string {
  return join(configFolder(where), 'server.json')
}
