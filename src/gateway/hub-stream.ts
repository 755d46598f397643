/**
 * One connection to the message hub: a WebSocket with the records of SignalR's JSON protocol.
 * @module
 */

import { LiveStream, type Frame } from '../http/live-streams.ts'
import type { Wire } from '../http/reply.ts'
import {
  CLOSE_CODES,
  encodeClose,
  encodePong,
  encodeText,
  WebSocketError,
  WebSocketReader,
  type CloseCode,
} from '../http/websocket.ts'
import type { Clock } from '../lib/clock.ts'
import type { HubAllowance } from './hub-allowance.ts'
import {
  decodeHubRecord,
  encodeNoMethod,
  HUB_FAREWELL,
  HUB_PING,
  HUB_REFUSAL,
  HUB_WELCOME,
  isHandshake,
  splitRecords,
} from './wire/hub-records.ts'

/** The limit of the reference server. */
const MAX_MESSAGE_BYTES: number = 32 * 1024

/** All clients together cost the memory of two frames that are longer. */
const LONG_BYTES: number = 64 * 1024

/** A client that is silent for this long is gone: it sends a ping every 15 s. */
const SILENCE_MS = 30_000

/** A client that has not asked for a protocol by then never will. */
const HANDSHAKE_MS = 15_000

const PING: Uint8Array = encodeText(HUB_PING)

/** Settings of a connection to the hub. */
export interface HubStreamOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Limits what the client sends; the connections of its device share it. */
  readonly allowance: HubAllowance
  /** Names the connection; absent when its client did not ask for a name. */
  readonly token: string | undefined
  /** Called once when the client is gone or has said goodbye; not after `end`. */
  readonly onGone: () => void
  /** Called before the connection of a client that keeps sending more than it may is ended. */
  readonly onFlood: () => void
}

/** A connection to the hub. */
export class HubStream extends LiveStream {
  readonly token: string | undefined
  readonly #wire: Wire
  readonly #options: HubStreamOptions
  readonly #reader = new WebSocketReader(MAX_MESSAGE_BYTES)
  #isReady = false
  #heardAt: number
  #farewell: Uint8Array

  constructor(wire: Wire, options: HubStreamOptions) {
    const { clock, allowance, token, onGone } = options
    super(wire, () => {
      allowance.delete(wire)
      onGone()
    })
    this.token = token
    this.#wire = wire
    this.#options = options
    this.#heardAt = clock.monotonic()
    this.#farewell = FAREWELL
    wire.onData((chunk) => this.#receive(chunk))
    allowance.add(wire)
  }

  /** Tells the client of a change, if it has said what it speaks. */
  tell(frame: Frame): void {
    if (!this.#isReady) return
    // Else each client that does not read would keep another long frame in memory.
    if (isLong(frame.length) && isLong(this.writing)) this.#leave(FAREWELL)
    else this.send(frame)
  }

  beat(): void {
    const { clock, allowance } = this.#options
    const silentMs = clock.monotonic() - Math.max(this.#heardAt, allowance.restedAt)
    if (silentMs >= (this.#isReady ? SILENCE_MS : HANDSHAKE_MS)) this.#leave(FAREWELL)
    else if (this.#isReady) this.ping(PING)
  }

  override end(): void {
    this.#options.allowance.delete(this.#wire)
    super.end()
  }

  protected override farewell(): Uint8Array {
    return this.#farewell
  }

  #receive(chunk: Uint8Array): void {
    try {
      if (!this.#options.allowance.take(chunk.length)) {
        this.#options.onFlood()
        throw new WebSocketError(CLOSE_CODES.policyViolation, 'the client keeps sending too much')
      }
      for (const message of this.#reader.read(chunk)) {
        if (message.kind === 'close') return this.#leave(encodeClose(CLOSE_CODES.normal))
        if (message.kind === 'ping') this.#answer(encodePong(message.payload))
        if (message.kind === 'text' && !this.#hear(splitRecords(message.text))) return
        // A client that has not asked for a protocol has said nothing.
        if (this.#isReady) this.#heardAt = this.#options.clock.monotonic()
      }
    } catch (error) {
      this.#leave(encodeClose(closeCodeOf(error)))
    }
  }

  /** @returns Whether more may come. */
  #hear(records: readonly string[]): boolean {
    for (const record of records) {
      if (!this.#isReady) {
        if (!isHandshake(record)) return this.#refuse()
        this.#isReady = true
        this.#answer(encodeText(HUB_WELCOME))
        continue
      }
      const heard = decodeHubRecord(record)
      if (heard.kind === 'invocation') this.#answer(encodeText(encodeNoMethod(heard.id)))
      if (heard.kind === 'close') {
        this.#leave(encodeClose(CLOSE_CODES.normal))
        return false
      }
    }
    return true
  }

  #answer(frame: Uint8Array): void {
    if (this.reply(frame)) return
    throw new WebSocketError(CLOSE_CODES.policyViolation, 'the client reads no answers')
  }

  #refuse(): false {
    this.#leave(Buffer.concat([encodeText(HUB_REFUSAL), encodeClose(CLOSE_CODES.policyViolation)]))
    return false
  }

  /** Ends the stream from this side. */
  #leave(farewell: Uint8Array): void {
    this.#farewell = farewell
    this.end()
    this.#options.onGone()
  }
}

const FAREWELL: Uint8Array = Buffer.concat([
  encodeText(HUB_FAREWELL),
  encodeClose(CLOSE_CODES.goingAway),
])

function isLong(bytes: number): boolean {
  return bytes > LONG_BYTES
}

function closeCodeOf(error: unknown): CloseCode {
  if (error instanceof WebSocketError) return error.code
  if (error instanceof TypeError) return CLOSE_CODES.invalidPayload
  throw error
}
