/**
 * Finds which daemon `pull`, `push` and `watch` talk to: that of a connect link, a saved one, or
 * the one that runs here. For `--save` it remembers the server of a link: its address, user name
 * and password, in a private file. Never the link itself.
 * @module
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { connect, type Client } from '../client/connect.ts'
import type { LatestDocument } from '../client/latest.ts'
import type { Credentials } from '../client/server.ts'
import { configFolder } from '../daemon/folders.ts'
import { openOwnClipboard } from '../daemon/own-clipboard.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import { decodeString, objectOf } from '../lib/decoder.ts'
import { hasCode, wordsOf } from '../lib/system-error.ts'
import { parseJson } from '../lib/utf8.ts'
import { parseConnectLink, type ParsedLink } from '../link/connect-link.ts'
import { LinkError } from '../link/link-error.ts'
import { CommandError, LINK, type Invocation } from './command.ts'
import type { Input } from './input.ts'
import { readSettings } from './setting-options.ts'
import type { Shell } from './shell.ts'

/** The server of the link in `--link-file`, or on stdin. @throws {CommandError} */
export async function readServer(call: Invocation, input: Input): Promise<Credentials> {
  const { url, user, pwd } = parseLink(await readLink(call, input))
  return { url, username: user, password: pwd }
}

/** A client, and the data directory of its daemon where that runs here. */
interface ChosenClient {
  readonly client: Client
  readonly ownDataDir: string | undefined
}

/**
 * A client of the server of the link that is given; with `--save`, one that let us in. Without a
 * link it is one of the saved server, else of the daemon that runs here.
 *
 * @throws {CommandError}
 * @throws {ClientError} when the server to be saved does not answer, or not to us.
 */
export async function chooseClient(call: Invocation, input: Input): Promise<ChosenClient> {
  const { shell, args } = call
  // With --save there is a new link, since the saved server is saved already.
  const hasLink = args.text('link-file') !== undefined || args.flag('save')
  const chosen = hasLink ? undefined : await openWithoutLink(call, input)
  if (chosen !== undefined) return chosen
  const server = await readServer(call, input)
  const linked = connect(server)
  if (args.flag('save')) {
    await linked.probe()
    await saveServer(shell, server)
  }
  return { client: linked, ownDataDir: undefined }
}

/** @returns `undefined` when there is a link on stdin, or a person is to be asked for one. */
async function openWithoutLink(call: Invocation, input: Input): Promise<ChosenClient | undefined> {
  const { shell, args } = call
  const isOwn = args.text('data-dir') !== undefined
  const saved = isOwn ? undefined : await readSavedServer(shell)
  if (saved !== undefined) return { client: connect(saved), ownDataDir: undefined }
  if (!isOwn && (await input.startsWithLink())) return undefined
  const { dataDir } = readSettings(args, shell)
  const own = await openOwnClipboard(dataDir)
  if (own !== undefined) return { client: own, ownDataDir: dataDir }
  if (!isOwn && input.isTerminal) return undefined
  throw new CommandError(
    'Cannot find a clipboard: no daemon runs here, and there is no connect link; start one: ' +
      'clipgate serve, or name another one with --link-file',
  )
}

/** The members of an item that scripts rely on, in their order. */
export function toJson(document: LatestDocument): object {
  const { type, text, hasData, size, hash, dataName, contentId } = document
  return { type, text, hasData, size, hash, dataName, contentId }
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
    throw new CommandError(`Cannot read the link file "${path}": ${wordsOf(error)}`)
  }
}

/** Parses a connect link. @throws {CommandError} */
export function parseLink(text: string): ParsedLink {
  try {
    return parseConnectLink(text)
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
