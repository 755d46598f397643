/** `clipgate push`: makes a file, or the text on stdin, the current item. @module */

import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Client } from '../client/connect.ts'
import { toDataName } from '../core/data-name.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { wordsOf } from '../lib/system-error.ts'
import { chooseClient } from './choose-server.ts'
import {
  CommandError,
  LINK,
  LINK_ON_STDIN,
  printResult,
  UsageError,
  type Invocation,
} from './command.ts'
import { withInput } from './input.ts'
import { visible } from './visible.ts'

/** Describes what was pushed, without its content. */
interface Pushed {
  readonly type: 'Text' | 'File'
  readonly size: number
  readonly dataName: string
  readonly contentId: string
}

/** Runs `clipgate push`. */
export async function runPush(call: Invocation): Promise<number> {
  const { shell, args } = call
  const [file] = args.operands
  if (file !== undefined && LINK.test(file)) {
    throw new UsageError([`Cannot push that: ${LINK_ON_STDIN}, or from --link-file`])
  }
  const pushed = await withInput(shell, async (input) => {
    const { client } = await chooseClient(call, input)
    if (file === undefined) return pushText(client, await input.readText())
    return pushFile(client, resolve(shell.cwd, file))
  })
  const { type, size, dataName } = pushed
  const what = type === 'Text' ? 'the text' : visible(dataName)
  printResult(call, pushed, [`Pushed ${what} (${formatBytes(size)})`])
  return 0
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
    if (!(await stat(path)).isFile()) {
      const problem = 'it is no file; make an archive of a folder first'
      throw new CommandError(`Cannot push "${path}": ${problem}`)
    }
    return await openAsBlob(path)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`Cannot push "${path}": ${wordsOf(error)}`)
  }
}
