/**
 * Reads request bodies: never more than it was told to, never for longer than is fair, and never so
 * that the connection ends with the reading, as the iterator of a Node stream would.
 *
 * A reader that gives up leaves the rest of the body where it is; whoever answers the request sees
 * to it.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { freeBytes, handOver } from '../lib/read-bytes.ts'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import type { Clock } from '../lib/clock.ts'
import type { Call } from './call.ts'
import { LONG_BYTES } from './held-bytes.ts'
import { HttpError } from './http-error.ts'
import { JsonScan, parseScannedJson } from './json-body.ts'
import { afterWhatCame, type SilenceTimer } from './silence.ts'

/** The part of a call that body readers need. */
export type BodyCall = Pick<
  Call,
  'request' | 'clock' | 'beginBody' | 'holdBytes' | 'holdStreamed' | 'waitForMemory'
>

/** Bytes that may wait for a slow consumer before the sender is held back. */
const MAX_WAITING_BYTES: number = 256 * 1024

interface Consumer {
  resolve(chunk: Uint8Array | undefined): void
  reject(error: HttpError): void
}

/** The chunks of one body, between the socket and a reader. Whoever opens it closes it. */
class BodyInbox {
  /** Bytes so far. */
  received = 0
  /** Called when bytes came, and when a sender that was held back may go on. */
  onProgress: () => void = () => {}
  readonly #request: IncomingMessage
  readonly #limit: number
  /** Chunks that wait, oldest first. */
  readonly #chunks: Uint8Array[] = []
  #waitingBytes = 0
  #isHeldBack = false
  #isEnded: boolean
  #error: HttpError | undefined
  #consumer: Consumer | undefined

  constructor(call: BodyCall, limit: number) {
    const { request } = call
    this.#request = request
    this.#limit = limit
    this.#isEnded = request.readableEnded
    if (this.#isEnded) return
    call.beginBody()
    request.on('data', this.#onData).once('end', this.#onEnd).once('close', this.#onClose)
    // Also when nobody was there to hear of it.
    if (request.destroyed) this.#onClose()
  }

  /** Somebody waits for bytes, and none are there. */
  get isAwaited(): boolean {
    return this.#consumer !== undefined
  }

  /** The next chunk; `undefined` at the end of the body. */
  next(): Promise<Uint8Array | undefined> {
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      this.#waitingBytes -= chunk.length
      if (this.#isHeldBack && this.#waitingBytes === 0) this.#letGoOn()
      return Promise.resolve(chunk)
    }
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#isEnded) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#consumer = { resolve, reject }
    })
  }

  /** Ends the reading with an error; what had come before is still handed out. */
  fail(error: HttpError): void {
    if (this.#isEnded || this.#error !== undefined) return
    this.#error = error
    this.close()
    this.#takeConsumer()?.reject(error)
  }

  /** Lets go of the request; what is still to come stays there. */
  close(): void {
    this.#request
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('close', this.#onClose)
      .pause()
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.received += chunk.length
    if (this.received > this.#limit) {
      this.fail(tooLarge(this.#limit))
      return
    }
    // Where the gateway is a part of another server, that may look at the body as well.
    if (this.#request.listenerCount('data') === 1) handOver(chunk)
    this.onProgress()
    const consumer = this.#takeConsumer()
    if (consumer !== undefined) {
      consumer.resolve(chunk)
      return
    }
    this.#waitingBytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#waitingBytes < MAX_WAITING_BYTES) return
    this.#isHeldBack = true
    this.#request.pause()
  }

  readonly #onEnd = (): void => {
    this.#isEnded = true
    this.#takeConsumer()?.resolve(undefined)
  }

  readonly #onClose = (): void => {
    if (!this.#isEnded) this.fail(new HttpError('INCOMPLETE_BODY'))
  }

  #letGoOn(): void {
    this.#isHeldBack = false
    this.#request.resume()
    this.onProgress()
  }

  #takeConsumer(): Consumer | undefined {
    const consumer = this.#consumer
    this.#consumer = undefined
    return consumer
  }
}

/** The error for a body of more than `limit` bytes. */
export function tooLarge(limit: number): HttpError {
  return new HttpError('BODY_TOO_LARGE', `at most ${limit} bytes`)
}

/** How long a body that is read whole may take, whatever its size. */
const GRACE_MS = 30_000

/** Bytes of a file may come slowly, but not stop for longer than this. */
export const BODY_IDLE_MS = 60_000

/** Bytes that have come earn more time: one second for each 16 KiB. */
const BYTES_PER_SECOND: number = 16 * 1024

/** The length that the client declared. `undefined` for a chunked body; 0 when there is none. */
export function declaredLength(request: IncomingMessage): number | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  // The parser let nothing but digits through.
  if (length !== undefined) return Number(length)
  return coding === undefined ? 0 : undefined
}

/**
 * Reads the body whole.
 *
 * @throws {HttpError} `BODY_TOO_LARGE` as soon as the limit is known to be passed, `BODY_TIMEOUT`,
 *   `INCOMPLETE_BODY` when the client left, `OVERLOADED` when all bodies together are too much.
 */
export function readBytes(call: BodyCall, limit: number): Promise<Uint8Array> {
  return readPieces(call, limit, () => undefined)
}

/** @param look Sees each piece of the body as it comes; it may throw. */
async function readPieces(
  call: BodyCall,
  limit: number,
  look: (piece: Uint8Array) => void,
): Promise<Uint8Array> {
  const length = declaredLength(call.request)
  // Only a fast path: the length may be absent, or a lie.
  if ((length ?? 0) > limit) throw tooLarge(limit)
  if (length !== undefined) call.holdBytes(length, length)
  // A body that is only announced takes no memory, and gets no turn.
  let isLong = false
  const inbox = new BodyInbox(call, limit)
  const take = (piece: Uint8Array): Promise<void> | undefined => {
    if (length === undefined) call.holdBytes(piece.length, limit)
    look(piece)
    if (isLong || inbox.received <= LONG_BYTES) return undefined
    isLong = true
    return call.waitForMemory()
  }
  const timer = limitTime(inbox, call.clock)
  try {
    const bytes = await collect(inbox, take, length)
    // It may have come too slowly for one turn.
    if (isLong) await call.waitForMemory(true)
    return bytes
  } finally {
    timer.cancel()
    inbox.close()
  }
}

/** Fails `inbox` when what comes from now on takes longer than a body that is read whole may. */
function limitTime(inbox: BodyInbox, clock: Clock): SilenceTimer {
  const start = clock.monotonic()
  const before = inbox.received
  const timer = afterWhatCame(clock, GRACE_MS, () => {
    const allowedMs = GRACE_MS + ((inbox.received - before) / BYTES_PER_SECOND) * 1000
    if (clock.monotonic() - start < allowedMs) timer.refresh()
    else inbox.fail(new HttpError('BODY_TIMEOUT'))
  })
  return timer
}

/**
 * Reads the body as JSON.
 *
 * @throws {HttpError} As {@link readBytes} and {@link parseJson}.
 */
export async function readJson(call: BodyCall, limit: number): Promise<unknown> {
  const scan = new JsonScan()
  const bytes = await readPieces(call, limit, (piece) => scan.add(piece))
  return parseScannedJson(bytes, scan)
}

/**
 * A body that is read as it comes, at the pace of the consumer, who may leave early. To be iterated
 * once. The declared length was judged by the limit of the route.
 *
 * While iterating, `BODY_TOO_LARGE` is thrown as soon as the bytes pass the limit, `BODY_TIMEOUT`,
 * `INCOMPLETE_BODY` when the client left, and before all of it `OVERLOADED`.
 */
export class StreamedBody implements AsyncIterable<Uint8Array> {
  readonly #call: BodyCall
  readonly #limit: number
  #inbox: BodyInbox | undefined
  #deadline: SilenceTimer | undefined

  constructor(call: BodyCall, limit: number) {
    this.#call = call
    this.#limit = limit
  }

  /**
   * From now on until {@link takeTime}, the body has as much time as one that is read whole. While
   * iterating, `BODY_TIMEOUT` is thrown then.
   */
  hurry(): void {
    this.#deadline?.cancel()
    if (this.#inbox !== undefined) this.#deadline = limitTime(this.#inbox, this.#call.clock)
  }

  /** From now on the body may come as slowly as it likes, but not stop. */
  takeTime(): void {
    this.#deadline?.cancel()
  }

  /** Bytes so far. */
  get received(): number {
    return this.#inbox?.received ?? 0
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    this.#call.holdStreamed()
    const inbox = new BodyInbox(this.#call, this.#limit)
    this.#inbox = inbox
    const timer = afterWhatCame(this.#call.clock, BODY_IDLE_MS, () => {
      // Waiting for the consumer is not idle.
      if (inbox.isAwaited) inbox.fail(new HttpError('BODY_TIMEOUT'))
      else if (!this.#call.request.destroyed) timer.refresh()
    })
    inbox.onProgress = () => timer.refresh()
    try {
      for (;;) {
        const chunk = await inbox.next()
        if (chunk === undefined) return
        yield chunk
      }
    } finally {
      timer.cancel()
      this.#deadline?.cancel()
      inbox.close()
    }
  }
}

/**
 * Reads a body that nobody wants, so that the connection can be kept.
 *
 * @throws {HttpError} As {@link StreamedBody}.
 */
export async function skipBody(call: BodyCall, limit: number): Promise<void> {
  for await (const _ of new StreamedBody(call, limit)) continue
}

async function collect(
  inbox: BodyInbox,
  take: (piece: Uint8Array) => Promise<void> | undefined,
  length: number | undefined,
): Promise<Uint8Array> {
  const first = await inbox.next()
  if (first === undefined) return new Uint8Array(0)
  await take(first)
  let chunk = await inbox.next()
  if (chunk === undefined) return first
  // A length that was announced is counted by now, and costs no memory before it comes.
  const bytes = new GrowingBuffer(length)
  bytes.append(first)
  freeBytes(first)
  while (chunk !== undefined) {
    await take(chunk)
    bytes.append(chunk)
    freeBytes(chunk)
    chunk = await inbox.next()
  }
  return bytes.filled
}
