/**
 * A request body between the socket and whoever reads it: bounded, cancellable, and never the one
 * to end the connection, which the iterator of a Node stream would do.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { Call } from './call.ts'
import { HttpError } from './http-error.ts'

/** The part of a call that body readers need. */
export type BodyCall = Pick<Call, 'request' | 'clock' | 'beginBody' | 'holdBytes'>

/** Bytes and chunks that may wait for a slow consumer before the sender is held back. */
const MAX_WAITING_BYTES: number = 256 * 1024
const MAX_WAITING_CHUNKS = 64

interface Consumer {
  resolve(chunk: Uint8Array | undefined): void
  reject(error: HttpError): void
}

/** The chunks of one body. Whoever opens it closes it. */
export class BodyInbox {
  /** Bytes so far. */
  received = 0
  /** Called when bytes came, and when a sender that was held back may go on. */
  onProgress: () => void = () => {}
  readonly #request: IncomingMessage
  readonly #limit: number
  readonly #chunks: Uint8Array[] = []
  #waitingBytes = 0
  #isHeldBack = false
  #isEnded: boolean
  #error: HttpError | undefined = undefined
  #consumer: Consumer | undefined = undefined

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
      if (this.#isHeldBack && this.#chunks.length === 0) this.#letGoOn()
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
    this.onProgress()
    const consumer = this.#takeConsumer()
    if (consumer !== undefined) {
      consumer.resolve(chunk)
      return
    }
    this.#chunks.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#chunks.length < MAX_WAITING_CHUNKS && this.#waitingBytes < MAX_WAITING_BYTES) return
    this.#isHeldBack = true
    this.#request.pause()
  }

  readonly #onEnd = (): void => {
    this.#isEnded = true
    this.#takeConsumer()?.resolve(undefined)
  }

  readonly #onClose = (): void => {
    this.fail(new HttpError('INCOMPLETE_BODY'))
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
  return new HttpError('BODY_TOO_LARGE', { detail: `at most ${limit} bytes` })
}
