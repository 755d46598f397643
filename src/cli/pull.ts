/** `clipgate pull`: prints the current text, or saves the current image, file or group. @module */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Client } from '../client/connect.ts'
import { hasItem, type LatestDocument } from '../client/latest.ts'
import { nameHashOf } from '../core/content-id.ts'
import { MAX_METADATA_BYTES } from '../core/limits.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { hasCode } from '../lib/system-error.ts'
import { chooseClient, toJson } from './choose-server.ts'
import { CommandError, interruptible, UsageError, type Invocation } from './command.ts'
import { withInput } from './input.ts'
import { exactTarget, likeItem, refuseTaken, saveFile } from './save-file.ts'
import { print, printJson, type Screen, type Shell } from './shell.ts'
import { visible, visibleLines } from './visible.ts'

const STDOUT = '-'

interface Pull extends Invocation {
  readonly client: Client
  readonly document: LatestDocument
  /** The file that it shall go to, if a person named one. */
  readonly file: string | undefined
}

/** Runs `clipgate pull`. */
export async function runPull(call: Invocation): Promise<number> {
  const { shell, args } = call
  const output = args.text('output')
  if (output === STDOUT && args.flag('json')) {
    throw new UsageError(['Cannot use --output -: stdout is for --json'])
  }
  const file = output === STDOUT ? undefined : output
  if (file !== undefined) await refuseTaken(exactTarget(shell.cwd, file))
  return withInput(shell, async (input) => {
    const { client } = await chooseClient(call, input)
    const document = await client.latest()
    const pull = { shell, args, client, document, file }
    await (document.type === 'Text' ? pullText(pull) : pullBytes(pull))
    return 0
  })
}

async function pullText({ shell, args, client, document, file }: Pull): Promise<void> {
  const { text, hasData } = document
  if (!hasItem(document)) {
    throw new CommandError('Cannot pull: nothing was copied yet; copy or push something first')
  }
  const whole = hasData ? await downloadText(client, document) : text
  const target = file === undefined ? undefined : exactTarget(shell.cwd, file)
  const savedTo = target && (await saveFile([Buffer.from(whole)], target, () => undefined))
  if (args.flag('json')) printItem(shell, { ...document, text: whole }, savedTo)
  else if (savedTo !== undefined) print(shell, `Saved ${visible(savedTo)}`)
  // A program gets the text as it is; a terminal would obey what is in it.
  else if (shell.stdout.isTTY !== true) shell.stdout.write(whole)
  // A prompt that follows has a line of its own.
  else print(shell, visibleLines(whole.replace(/\r?\n$/, '')))
}

/** Downloads a long text, which some servers keep as a file with a preview in the document. */
async function downloadText(client: Client, document: LatestDocument): Promise<string> {
  const { body } = await client.download(document)
  const received = new GrowingBuffer()
  for await (const chunk of body) {
    received.append(chunk)
    if (received.filled.length > MAX_METADATA_BYTES) {
      throw new CommandError('Cannot pull the text: it is too long')
    }
  }
  const { filled } = received
  verifyDownload(document, sha256Of(filled))
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(filled)
}

async function pullBytes({ shell, args, client, document, file }: Pull): Promise<void> {
  if (args.text('output') === STDOUT) {
    if (shell.stdout.isTTY === true) {
      throw new CommandError('Cannot print bytes on a terminal; use --output FILE, or a pipe')
    }
    const { body } = await client.download(document)
    const sha256 = await sendTo(shell.stdout, body)
    if (sha256 !== undefined) verifyDownload(document, sha256)
    return
  }
  const folder = resolve(shell.cwd, args.text('dir') ?? '.')
  const target =
    file === undefined ? likeItem(folder, document.dataName) : exactTarget(shell.cwd, file)
  const savedTo = await interruptible(async (signal) => {
    const { body } = await client.download(document, { signal })
    return saveFile(body, target, (sha256) => verifyDownload(document, sha256))
  })
  if (args.flag('json')) printItem(shell, document, savedTo)
  else print(shell, `Saved ${visible(savedTo)} (${formatBytes(document.size)})`)
}

/**
 * @returns The SHA-256 of what was sent: too late to take it back, but not to fail. `undefined`
 *   when the reader wanted no more.
 */
async function sendTo(stream: Screen, body: AsyncIterable<Uint8Array>) {
  const hash = createHash('sha256')
  for await (const chunk of body) {
    hash.update(chunk)
    if (!stream.writable) return undefined
    if (!stream.write(chunk) && !(await drained(stream))) return undefined
  }
  return hash.digest('hex')
}

/** Whether there is still a reader, once there is room again. */
async function drained(stream: Screen): Promise<boolean> {
  const settled = new AbortController()
  const { signal } = settled
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })])
    return stream.writable
  } catch (error) {
    // Such a reader has seen enough, which is no failure.
    if (hasCode(error, 'EPIPE')) return false
    throw error
  } finally {
    // Nobody listens for the other one any more.
    settled.abort()
  }
}

function printItem(shell: Shell, document: LatestDocument, savedTo?: string): void {
  const item = toJson(document)
  printJson(shell, savedTo === undefined ? item : { ...item, savedTo })
}

/**
 * Accepts the hash of the bytes, and the name-bound one that other servers of the protocol tell.
 *
 * @param sha256 Of the bytes that came, in lower-case hex.
 * @throws {CommandError} when neither matches. A document without a hash says nothing.
 */
function verifyDownload(
  { hash, dataName }: Pick<LatestDocument, 'hash' | 'dataName'>,
  sha256: string,
): void {
  const told = hash.toLowerCase()
  if (told === '' || told === sha256 || told === nameHashOf(dataName, sha256, sha256Of)) return
  throw new CommandError('Cannot keep what was downloaded: its hash is another one; pull again')
}

function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
