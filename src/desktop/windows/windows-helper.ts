/**
 * The Windows side of the clipboard: a program that runs for as long as the daemon does, and speaks
 * the lines that `helper/clipboard-messages.ts` describes.
 *
 * It is a process of its own because a program that copied and hangs makes whoever reads the
 * clipboard wait for half a minute. It has two threads: this one reads lines and converts, the
 * other one owns the window.
 * @module
 */

import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { decodeNumber, decodeString, objectOf, optional } from '../../lib/decoder.ts'
import { describeFailure } from '../../lib/describe-failure.ts'
import { ClipboardWindow } from './clipboard-window.ts'
import { decodePicture } from './gdi-plus.ts'
import { runWindow } from './window-thread.ts'
import { boundOf, decodeFormat, encodeFormats } from './windows-contents.ts'

const decodeRequest = objectOf({
  id: decodeNumber,
  do: decodeString,
  change: optional(decodeNumber),
  type: optional(decodeString),
  kind: optional(decodeString),
  maxBytes: optional(decodeNumber),
  file: optional(decodeString),
  path: optional(decodeString),
})

type Request = ReturnType<typeof decodeRequest>
type Reply = Readonly<Record<string, unknown>>

if (isMainThread) obey()
else runWindow(workerData, (message) => parentPort?.postMessage(message))

function obey(): void {
  const window = new ClipboardWindow({
    thread: new URL(import.meta.url),
    onReady: () => tell({ event: 'ready' }),
    onEvent: tell,
    onFailed: fail,
  })
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const request = decodeRequest(JSON.parse(line), 'request')
      void answer(request, window).then(
        (fields) => tell({ reply: request.id, ...fields }),
        (error: unknown) => tell({ reply: request.id, error: describeFailure(error).reason }),
      )
    })
    .on('close', end)
}

async function answer(request: Request, window: ClipboardWindow): Promise<Reply> {
  const { change = 0 } = request
  switch (request.do) {
    case 'look':
      return window.ask({ do: 'look' })
    case 'read':
      return read(request, window)
    case 'write':
      return write(request, window)
    case 'release':
      return window.ask({ do: 'release', change })
    default:
      throw new Error('The helper does not know this')
  }
}

async function read(request: Request, window: ClipboardWindow): Promise<Reply> {
  const { change = 0, type = '', maxBytes = 0, file = '' } = request
  const bound = boundOf(type, maxBytes)
  const { bytes, ...reply } = await window.ask({ do: 'read', change, type, maxBytes: bound })
  if (bytes === undefined) return reply
  const content = await decodeFormat(type, bytes)
  if (content === undefined) return { ...reply, outcome: 'absent' }
  if (content.length > maxBytes) return { ...reply, outcome: 'tooLong' }
  // Into the file that the daemon made, with its permissions.
  writeFileSync(file, content, { flag: 'r+' })
  return { ...reply, bytes: content.length }
}

async function write(request: Request, window: ClipboardWindow): Promise<Reply> {
  const { kind = '', type = '', file = '', path } = request
  const bytes = readFileSync(file)
  const picture = kind === 'image' ? await decodePicture(file, bytes) : undefined
  const formats = await encodeFormats({ kind, type, bytes, picture, path })
  return window.ask({ do: 'write', formats })
}

function tell(message: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function fail(reason: unknown): void {
  // A pipe that is written to in the background is lost with this program.
  writeSync(process.stderr.fd, `${reason instanceof Error ? reason.message : String(reason)}\n`)
  end()
}

/** Ends at once: the thread of the window may be waiting for another program. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}
