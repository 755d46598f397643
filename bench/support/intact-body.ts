/**
 * Sends and fetches bodies in which no two blocks are the same, and says what their SHA-256 is.
 * @module
 */

import { createHash, randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BodyTarget } from './big-body.ts'

const BLOCK_BYTES: number = 256 * 1024

/** @returns What was sent, in hex. */
export async function uploadIntact(target: BodyTarget, size: number): Promise<string> {
  const hash = createHash('sha256')
  const outgoing = ask('PUT', target, { 'Content-Length': size })
  const answered = once(outgoing, 'response')
  // Awaited below; a refusal may come while the body is still being sent.
  answered.catch(() => undefined)
  await pipeline(Readable.from(blocks(size, (block) => hash.update(block))), outgoing)
  const [answer] = await answered
  await readSuccess(answer, () => {})
  return hash.digest('hex')
}

/** @returns What came, in hex. */
export async function downloadIntact(target: BodyTarget): Promise<string> {
  const hash = createHash('sha256')
  const outgoing = ask('GET', target, {}).end()
  const [answer] = await once(outgoing, 'response')
  await readSuccess(answer, (chunk) => hash.update(chunk))
  return hash.digest('hex')
}

function* blocks(size: number, onBlock: (block: Buffer) => void): Generator<Buffer> {
  const noise = randomFillSync(Buffer.alloc(BLOCK_BYTES))
  for (let sent = 0; sent < size; sent += BLOCK_BYTES) {
    // A copy: the socket may still hold the one before.
    const block = Buffer.from(noise.subarray(0, Math.min(BLOCK_BYTES, size - sent)))
    if (block.length >= 8) block.writeDoubleLE(sent)
    onBlock(block)
    yield block
  }
}

function ask(method: string, target: BodyTarget, headers: Readonly<Record<string, number>>) {
  const { port, path, authorization } = target
  const own = authorization === undefined ? {} : { Authorization: authorization }
  return request({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent: false,
    headers: { ...own, ...headers },
  })
}

async function readSuccess(
  answer: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  // Nobody set an encoding, so these are bytes.
  for await (const chunk of answer) onChunk(chunk as Buffer)
  const { statusCode = 0 } = answer
  if (statusCode < 200 || statusCode > 299) throw new Error(`The server answered ${statusCode}`)
}
