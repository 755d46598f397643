/**
 * Reads answers, and never more of them than they may have.
 *
 * @module
 */

import { ClientError } from './client-error.ts'
import type { Watchdog } from './watchdog.ts'

/** An answer whose body nobody has read yet. Whoever reads it closes the watchdog. */
export interface Answer {
  readonly response: Response
  readonly watchdog: Watchdog
}

/**
 * Reads the body as JSON.
 *
 * @param limit The most bytes that it may have.
 * @throws {ClientError} `BAD_ANSWER` when it is longer, or not JSON in UTF-8.
 */
export async function readJson(answer: Answer, limit: number): Promise<unknown> {
  const chunks = await readChunks(answer, limit)
  try {
    return JSON.parse(decodeUtf8(chunks))
  } catch {
    // The message quotes the text.
    throw new ClientError('BAD_ANSWER', { reason: 'not JSON in UTF-8' })
  }
}

/** Lets go of a body that nobody wants, and with it of the connection. */
export async function discard({ response, watchdog }: Answer): Promise<void> {
  watchdog.close()
  // A body that fails now is one that nobody misses.
  await response.body?.cancel().catch(() => undefined)
}

async function readChunks({ response, watchdog }: Answer, limit: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  const reader = response.body?.getReader()
  if (reader === undefined) return chunks
  let size = 0
  try {
    for (;;) {
      const { value: chunk } = await watchdog.wait(reader.read())
      if (chunk === undefined) return chunks
      size += chunk.byteLength
      if (size > limit) throw new ClientError('BAD_ANSWER', { reason: 'too long' })
      chunks.push(chunk)
    }
  } finally {
    // At the end of the body, this does nothing; before it, nobody misses what fails now.
    await reader.cancel().catch(() => undefined)
  }
}

function decodeUtf8(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
