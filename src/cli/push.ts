/**
 * `clipgate push`: makes a file, or the text on stdin, the current item.
 *
 * @module
 */

import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { connect, type Client } from '../client/connect.ts'
import { toDataName } from '../core/data-name.ts'
import { codeOf } from '../lib/system-error.ts'
import { chooseServer } from './choose-server.ts'
import { CommandError, type Invocation } from './command.ts'
import { Input } from './input.ts'
import { formatBytes } from './quantities.ts'
import { saveServer } from './saved-server.ts'
import { print, printJson } from './shell.ts'
import { visible } from './visible.ts'

/** What was pushed, without its content. */
interface Pushed {
  readonly type: 'Text' | 'File'
  readonly size: number
  readonly dataName: string
  readonly contentId: string
}

export async function runPush(call: Invocation): Promise<number> {
  const { shell, args } = call
  const [file] = args.operands
  const input = new Input(shell)
  try {
    const server = await chooseServer(call, input)
    const client = connect(server)
    if (args.flag('save')) {
      await client.probe()
      await saveServer(shell, server)
    }
    const pushed =
      file === undefined
        ? await pushText(client, await input.readText())
        : await pushFile(client, resolve(shell.cwd, file))
    if (args.flag('json')) printJson(shell, pushed)
    else print(shell, describe(pushed))
    return 0
  } finally {
    input.close()
  }
}

async function pushText(client: Client, text: string): Promise<Pushed> {
  if (text === '') throw new CommandError('Cannot push: there is no text on stdin')
  const contentId = await client.pushText(text)
  return { type: 'Text', size: Buffer.byteLength(text), dataName: '', contentId }
}

async function pushFile(client: Client, path: string): Promise<Pushed> {
  const blob = await openFile(path)
  const dataName = toDataName(basename(path))
  const contentId = await client.pushFile(blob, { dataName })
  return { type: 'File', size: blob.size, dataName, contentId }
}

/** The bytes stay in the file until they are sent. */
async function openFile(path: string): Promise<Blob> {
  try {
    if (!(await stat(path)).isFile()) throw new CommandError(`Cannot push "${path}": it is no file`)
    return await openAsBlob(path)
  } catch (error) {
    if (error instanceof CommandError) throw error
    const reason = codeOf(error) ?? 'unknown error'
    throw new CommandError(`Cannot push "${path}": ${reason}`)
  }
}

function describe({ type, size, dataName }: Pushed): string {
  return `Pushed ${type === 'Text' ? 'the text' : visible(dataName)} (${formatBytes(size)})`
}
