/**
 * The bytes that a document describes, across connections that break: what came is kept, and the
 * rest is asked for.
 * @module
 */

import { backOff } from '../core/back-off.ts'
import { ClientError } from '../client/client-error.ts'
import type { DaemonClient } from '../client/connect-daemon.ts'
import type { ClipboardDocument } from '../client/decode-document.ts'
import { sleep, type Timing } from '../client/timing.ts'

/** About ten minutes without a byte: a server that was updated is back by then. */
const MAX_FAILURES = 24

/** Where the bytes come from, and for how long they are wanted. */
export interface ResumedDownloadOptions {
  readonly client: Pick<DaemonClient, 'download'>
  readonly timing: Timing
  readonly signal: AbortSignal
}

/** Bytes on their way. */
export interface ResumedDownload {
  readonly mediaType: string
  /** May be read once. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Closes the connection when nothing was read. */
  cancel(): Promise<void>
}

/**
 * Opens a download that is resumed when its connection breaks.
 *
 * @throws {ClientError}, or the reason of the signal; so does reading the bytes.
 */
export async function openDownload(
  document: ClipboardDocument,
  { client, timing, signal }: ResumedDownloadOptions,
): Promise<ResumedDownload> {
  const first = await client.download(document, { signal })
  const { mediaType, etag } = first

  async function* read(): AsyncGenerator<Uint8Array> {
    let { body } = first
    let received = 0
    for (let failures = 0; ; ) {
      try {
        for await (const chunk of body) {
          received += chunk.byteLength
          failures = 0
          yield chunk
        }
        return
      } catch (error) {
        signal.throwIfAborted()
        if (!mayPass(error) || etag === undefined) throw error
      }
      body = await resume()
      if (received === document.size) return

      async function resume(): Promise<typeof body> {
        for (;;) {
          failures += 1
          await sleep(timing, backOff(failures, timing.random()), signal)
          try {
            const range = { offset: received, etag }
            const next = await client.download(document, { range, signal })
            if (next.offset === received) return next.body
            await next.body.cancel()
            throw new ClientError('BAD_ANSWER', { reason: 'the bytes are others by now' })
          } catch (error) {
            signal.throwIfAborted()
            if (!mayPass(error) || failures > MAX_FAILURES) throw error
          }
        }
      }
    }
  }

  // Once it is being read, the reader sees to it, and this fails.
  const cancel = (): Promise<void> => first.body.cancel().catch(() => undefined)
  return { mediaType, bytes: read(), cancel }
}

/** Whether the same request may succeed later. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  const { code, status = 0, reason } = error
  if (code === 'UNREACHABLE' || code === 'TIMEOUT') return true
  // A body that is cut off has another size than was announced.
  if (code === 'BAD_ANSWER') return reason === 'not the announced size'
  return code === 'REFUSED' && (status >= 500 || status === 429 || status === 408)
}
