/**
 * The WebSocket protocol of RFC 6455 on the server's side, without a socket: what a handshake is
 * answered, what the bytes of a client mean, and how frames are written. No extensions.
 * @module
 */

import { createHash } from 'node:crypto'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { pieced, type Pieces } from '../lib/long-text.ts'
import { decodeUtf8 } from '../lib/utf8.ts'

/** RFC 6455 section 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Sixteen bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{22}==$/

const CONTINUATION = 0x0
const TEXT = 0x1
const BINARY = 0x2
const CLOSE = 0x8
const PING = 0x9
const PONG = 0xa

const FINAL = 0x80
const RESERVED = 0x70
const OPCODE = 0x0f
const CONTROL = 0x08
const MASKED = 0x80
const LENGTH = 0x7f

/** Stands for a length in the next two bytes; the number behind it, for one in eight. */
const TWO_BYTES = 126
const EIGHT_BYTES = 127

/** Close codes that tell something inside of a program. */
const NEVER_SENT: ReadonlySet<number> = new Set([1004, 1005, 1006])

/** Longest payload of a control frame. */
const MAX_CONTROL_BYTES = 125

const EMPTY: Uint8Array = Buffer.alloc(0)

/** Memory for the first fragments of a message. */
const FIRST_BYTES = 1024

/** Why a connection is closed: RFC 6455 section 7.4.1. */
export const CLOSE_CODES = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  invalidPayload: 1007,
  policyViolation: 1008,
  messageTooBig: 1009,
} as const

/** A number of {@link CLOSE_CODES}. */
export type CloseCode = (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES]

/**
 * A message or control frame of a client. Binary messages are read as text as well: Microsoft's
 * library for Java sends its records in them.
 */
export type WebSocketMessage =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ping'; readonly payload: Uint8Array }
  | { readonly kind: 'pong' }
  | { readonly kind: 'close' }

/** Bytes that no client may send. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError'
  /** To be sent in the frame that closes the connection. */
  readonly code: CloseCode

  constructor(code: CloseCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`; `undefined` when that is not a key. */
export function acceptKey(key: string): string | undefined {
  if (!KEY.test(key)) return undefined
  return createHash('sha1')
    .update(key + ACCEPT_SUFFIX)
    .digest('base64')
}

/** Encodes a text message. */
export function encodeText(text: string): Uint8Array {
  return encodeFrame(TEXT, Buffer.from(text))
}

/** Encodes a text message that is in UTF-8; the frame has the same pieces. */
export function encodePieces({ pieces, length }: Pieces): Pieces {
  return pieced([encodeHeader(TEXT, length), ...pieces])
}

/** Encodes the answer to a ping, with the payload of the ping. */
export function encodePong(payload: Uint8Array): Uint8Array {
  return encodeFrame(PONG, payload)
}

/** Encodes the frame that closes a connection. */
export function encodeClose(code: CloseCode): Uint8Array {
  const payload = Buffer.allocUnsafe(2)
  payload.writeUInt16BE(code)
  return encodeFrame(CLOSE, payload)
}

function encodeFrame(opcode: number, payload: Uint8Array): Uint8Array {
  return Buffer.concat([encodeHeader(opcode, payload.length), payload])
}

function encodeHeader(opcode: number, length: number): Uint8Array {
  const header = Buffer.alloc(2 + lengthBytesOf(length))
  header[0] = FINAL | opcode
  if (header.length === 2) {
    header[1] = length
  } else if (header.length === 4) {
    header[1] = TWO_BYTES
    header.writeUInt16BE(length, 2)
  } else {
    header[1] = EIGHT_BYTES
    header.writeBigUInt64BE(BigInt(length), 2)
  }
  return header
}

function lengthBytesOf(length: number): number {
  if (length <= MAX_CONTROL_BYTES) return 0
  return length <= 0xffff ? 2 : 8
}

/** A frame of which the header has come. */
interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  /** Its four bytes, as one number: an array for each of many small frames takes time. */
  readonly mask: number
  readonly payload: Uint8Array
  /** Bytes of the payload that have come. */
  filled: number
}

/** Turns the bytes of one client into messages. Keeps no memory between two messages. */
export class WebSocketReader {
  readonly #maxMessageBytes: number
  /** The beginning of a header. */
  #header: Uint8Array | undefined
  #frame: Frame | undefined
  /** The fragments of a message so far. */
  #message: GrowingBuffer | undefined
  #isFragmented = false

  /** @param maxMessageBytes Longest message, whether or not it comes in fragments. */
  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes
  }

  /**
   * Reads the next bytes of the client.
   *
   * @returns The messages that these bytes complete.
   * @throws {WebSocketError} for bytes that no client may send. Nothing may be read after that.
   */
  *read(chunk: Uint8Array): Generator<WebSocketMessage, void, undefined> {
    let rest = chunk
    while (rest.length > 0) {
      if (this.#frame === undefined) rest = this.#readHeader(rest)
      const frame: Frame | undefined = this.#frame
      if (frame === undefined) return
      rest = fill(frame, rest)
      if (frame.filled < frame.payload.length) return
      this.#frame = undefined
      const message = this.#finish(frame)
      if (message !== undefined) yield message
    }
  }

  /** @returns What follows the header, if the header is whole. */
  #readHeader(chunk: Uint8Array): Uint8Array {
    const before = this.#header
    const bytes = before === undefined ? chunk : Buffer.concat([before, chunk])
    const [first = 0, second = 0] = bytes
    if (bytes.length >= 1) this.#checkOpcode(first)
    const lengthBytes = extraLengthBytes(second & LENGTH)
    const headerBytes = 2 + lengthBytes + 4
    if (bytes.length >= 2) checkSecondByte(first, second)
    const hasLength = bytes.length >= 2 + lengthBytes
    const length = hasLength ? readLength(bytes, second & LENGTH) : 0
    this.#checkLength(first, length)
    if (bytes.length < headerBytes) {
      // A copy: the chunk may be as large as a read of the socket.
      this.#header = Uint8Array.from(bytes)
      return EMPTY
    }
    this.#header = undefined
    this.#frame = {
      opcode: first & OPCODE,
      isFinal: (first & FINAL) !== 0,
      mask: readMask(bytes, headerBytes - 4),
      payload: length === 0 ? EMPTY : Buffer.allocUnsafe(length),
      filled: 0,
    }
    return bytes.subarray(headerBytes)
  }

  #checkOpcode(first: number): void {
    if ((first & RESERVED) !== 0) throw broken('a reserved bit is set')
    const opcode = first & OPCODE
    if (opcode === CONTINUATION && !this.#isFragmented) throw broken('nothing is continued')
    if ((opcode === TEXT || opcode === BINARY) && this.#isFragmented) {
      throw broken('a message begins inside another one')
    }
    const isKnown = opcode <= BINARY || (opcode >= CLOSE && opcode <= PONG)
    if (!isKnown) throw broken('unknown opcode')
    if (isControl(first) && (first & FINAL) === 0) throw broken('a control frame in fragments')
  }

  #checkLength(first: number, length: number): void {
    if (isControl(first)) return
    const before = this.#message?.filled.length ?? 0
    if (before + length <= this.#maxMessageBytes) return
    throw new WebSocketError(CLOSE_CODES.messageTooBig, 'the message is too long')
  }

  #finish({ opcode, isFinal, payload }: Frame): WebSocketMessage | undefined {
    if (opcode === PING) return { kind: 'ping', payload }
    if (opcode === PONG) return { kind: 'pong' }
    if (opcode === CLOSE) {
      checkClose(payload)
      return { kind: 'close' }
    }
    this.#isFragmented = !isFinal
    if (isFinal && this.#message === undefined) return { kind: 'text', text: decodeText(payload) }
    this.#message ??= new GrowingBuffer(FIRST_BYTES)
    this.#message.append(payload)
    if (!isFinal) return undefined
    const text = decodeText(this.#message.filled)
    this.#message = undefined
    return { kind: 'text', text }
  }
}

/** Copies what belongs to the payload, without its mask. @returns What follows the frame. */
function fill(frame: Frame, chunk: Uint8Array): Uint8Array {
  const { payload, mask, filled } = frame
  const count = Math.min(payload.length - filled, chunk.length)
  for (let index = 0; index < count; index++) {
    // The first byte of the mask is the highest of the number.
    payload[filled + index] = (chunk[index] ?? 0) ^ (mask >>> (24 - 8 * ((filled + index) & 3)))
  }
  frame.filled += count
  return chunk.subarray(count)
}

function readMask(header: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [header[at], header[at + 1], header[at + 2], header[at + 3]]
  return (a << 24) | (b << 16) | (c << 8) | d
}

function isControl(first: number): boolean {
  return (first & CONTROL) !== 0
}

function checkSecondByte(first: number, second: number): void {
  if ((second & MASKED) === 0) throw broken('a frame without a mask')
  if (isControl(first) && (second & LENGTH) > MAX_CONTROL_BYTES)
    throw broken('a long control frame')
}

/** Bytes of the length beside the seven bits that each header has for it. */
function extraLengthBytes(short: number): number {
  if (short <= MAX_CONTROL_BYTES) return 0
  return short === TWO_BYTES ? 2 : 8
}

function readLength(header: Uint8Array, short: number): number {
  if (short <= MAX_CONTROL_BYTES) return short
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  const length = short === TWO_BYTES ? view.getUint16(2) : Number(view.getBigUint64(2))
  const isShortest = length > (short === TWO_BYTES ? MAX_CONTROL_BYTES : 0xffff)
  if (!isShortest) throw broken('a length that is longer than it needs to be')
  return length
}

/** RFC 6455 section 7.4: a code that may be sent, then a reason in UTF-8; or nothing. */
function checkClose(payload: Uint8Array): void {
  if (payload.length === 0) return
  if (payload.length === 1) throw broken('half a close code')
  const code = ((payload[0] ?? 0) << 8) | (payload[1] ?? 0)
  const isDefined = code >= 1000 && code <= 1014 && !NEVER_SENT.has(code)
  const isPrivate = code >= 3000 && code <= 4999
  if (!isDefined && !isPrivate) throw broken('a close code that nobody may send')
  decodeText(payload.subarray(2))
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    throw new WebSocketError(CLOSE_CODES.invalidPayload, 'the text is not UTF-8')
  }
}

function broken(message: string): WebSocketError {
  return new WebSocketError(CLOSE_CODES.protocolError, message)
}
