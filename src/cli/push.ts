/** `clipgate push`: makes files, or the text on stdin, the current item. @module */

import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Client } from '../client/connect.ts'
import type { FileToPush } from '../client/push.ts'
import { toDataName } from '../core/item.ts'
import { MAX_BATCH_UPLOADS } from '../core/limits.ts'
import { countOf } from '../lib/count-of.ts'
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
  readonly type: 'Text' | 'File' | 'Group'
  readonly size: number
  readonly dataName: string
  readonly contentId: string
}

/** Runs `clipgate push`. */
export async function runPush(call: Invocation): Promise<number> {
  const { shell, args } = call
  const files = args.operands
  if (files.some((file) => LINK.test(file))) {
    throw new UsageError([`Cannot push that: ${LINK_ON_STDIN}, or from --link-file`])
  }
  if (files.length > MAX_BATCH_UPLOADS) {
    const problem = `at most ${MAX_BATCH_UPLOADS} can be one item; make an archive of them first`
    throw new UsageError([`Cannot push ${countOf(files.length, 'file')}: ${problem}`])
  }
  const pushed = await withInput(shell, async (input) => {
    const { client } = await chooseClient(call, input)
    if (files.length === 0) return pushText(client, await input.readText())
    return pushFiles(
      client,
      files.map((file) => resolve(shell.cwd, file)),
    )
  })
  const { type, size, dataName } = pushed
  const many = countOf(files.length, 'file')
  const what = { Text: 'the text', File: visible(dataName), Group: many }[type]
  printResult(call, pushed, [`Pushed ${what} (${formatBytes(size)})`])
  return 0
}

async function pushText(client: Client, text: string): Promise<Pushed> {
  if (text === '') throw new CommandError('Cannot push: there is no text on stdin')
  const contentId = await client.pushText(text)
  return { type: 'Text', size: Buffer.byteLength(text), dataName: '', contentId }
}

/** Several are one item. */
async function pushFiles(client: Client, paths: readonly string[]): Promise<Pushed> {
  const files: FileToPush[] = []
  for (const path of paths) {
    files.push({ blob: await openFile(path), dataName: toDataName(basename(path)) })
  }
  const contentId = await client.pushFiles(files)
  const size = files.reduce((all, { blob }) => all + blob.size, 0)
  const [{ dataName } = { dataName: '' }, ...others] = files
  if (others.length === 0) return { type: 'File', size, dataName, contentId }
  // The server names it.
  return { type: 'Group', size, dataName: '', contentId }
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
