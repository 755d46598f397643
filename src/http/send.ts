/**
 * Puts replies on the wire: the only place that writes to a response.
 *
 * Knows which part of a resource was asked for, what to do about clients that read slowly, and how
 * to end a connection so that the client still gets to read why.
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ByteRange, checkPreconditions, isRangeCurrent, parseRange } from './conditional.ts'
import { DownloadBlocks, pumpBlob } from './download-blocks.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { HttpError } from './http-error.ts'
import { drain, linger, StallWatch } from './silence.ts'
import {
  allHeaders,
  type BlobBody,
  type LiveBody,
  type Reply,
  wholeHeaders,
  type WholeReply,
  type Wire,
  withoutContentHeaders,
} from './reply.ts'
import type { Pieces } from '../lib/long-text.ts'
import { decodeLatin1 } from '../lib/utf8.ts'

/** Up to this length, a body is joined to its header. */
const SHORT_BYTES: number = 16 * 1024

/** Sends the replies of one listener. */
export class Sender {
  readonly #stalls: StallWatch
  readonly #blocks = new DownloadBlocks()
  readonly #chunks = new Chunks()

  constructor(clock: Pick<Clock, 'after'>) {
    this.#stalls = new StallWatch(clock)
  }

  /**
   * Sends a reply; at once, unless it is a blob.
   *
   * @throws {HttpError} `PRECONDITION_FAILED`, `RANGE_NOT_SATISFIABLE`; what the blob throws.
   *   Nothing has been sent then, unless the headers have.
   */
  send(exchange: Exchange, reply: Reply): void | Promise<void> {
    const { method, response, connection } = exchange
    // Nothing ends any more that could give them back.
    if (exchange.isGone) return exchange.releaseBytes()
    if (exchange.hasUnreadBody) exchange.closeAfterwards()
    // Also when it is the client who asked for that.
    if (!response.shouldKeepAlive) connection.isClosing = true

    const { etag } = reply
    if (etag !== undefined && isConditional(exchange, reply)) {
      const verdict = checkPreconditions(exchange.request.headers, etag)
      if (verdict === 'failed') throw new HttpError('PRECONDITION_FAILED')
      if (verdict === 'not-modified') {
        const headers = withoutContentHeaders(reply.headers)
        response.writeHead(304, allHeaders({ ...reply, headers }, undefined))
        this.#finish(exchange, undefined)
        return
      }
    }

    const { status, body } = reply
    if (typeof body === 'object') {
      if ('attach' in body) return this.#sendLive(exchange, reply, body)
      if ('open' in body) return this.#sendBlob(exchange, reply, body)
    }
    response.writeHead(status, wholeHeaders(reply as WholeReply))
    this.#finish(exchange, method === 'HEAD' ? undefined : body)
  }

  async #sendBlob(exchange: Exchange, reply: Reply, blob: BlobBody): Promise<void> {
    const { method, response } = exchange
    const range = selectRange(exchange, reply, blob.size)
    const { start, end } = range ?? { start: 0, end: blob.size }
    const status = range === undefined ? reply.status : 206
    const headers = allHeaders(reply, end - start, [
      'Accept-Ranges',
      'bytes',
      ...(range === undefined ? [] : ['Content-Range', `bytes ${start}-${end - 1}/${blob.size}`]),
    ])
    if (method === 'HEAD' || start === end) {
      response.writeHead(status, headers)
      this.#finish(exchange, undefined)
      return
    }
    // A file that nobody can be sent yet would be open for as long as the client likes.
    await this.#turnOf(exchange)
    const open = await blob.open()
    const block = this.#blocks.begin(exchange.client)
    const host = isReplaced(response) ? new HostWrite(exchange) : undefined
    try {
      if (exchange.isGone) return
      response.writeHead(status, headers)
      const write = (chunk: Uint8Array): Promise<void> => this.#write(exchange, chunk, host)
      await pumpBlob(open, { start, end }, write, block.bytes)
    } finally {
      block.release()
      await open.close()
    }
    this.#finish(exchange, undefined)
  }

  /** Resolves when all answers before this one have ended, or the client has gone. */
  #turnOf({ response, connection }: Exchange): Promise<void> | undefined {
    if (response.socket !== null || connection.socket.destroyed) return undefined
    return new Promise((resolve) => {
      const forget = connection.onGone(resolve)
      response.once('socket', () => {
        forget()
        resolve()
      })
    })
  }

  #sendLive(exchange: Exchange, reply: Reply, body: LiveBody): void {
    const { method, response, connection } = exchange
    response.writeHead(reply.status, allHeaders(reply, undefined))
    if (method === 'HEAD') {
      this.#finish(exchange, undefined)
      return
    }
    // One write for both. The header goes first, by itself: Node would join it to the first bytes
    // of the body and keep, for as long as the stream lives, the thirty pieces that it is made of.
    connection.socket.cork()
    response.flushHeaders()
    body.attach(new LiveWire(exchange, this.#chunks))
    connection.socket.uncork()
  }

  /** Resolves when the chunk has left this program. */
  #write({ response, connection }: Exchange, chunk: Uint8Array, host?: HostWrite): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = connection.onGone(() => reject(clientGone()))
      const settle = (error?: unknown): void => {
        forget()
        if (error) reject(clientGone())
        else resolve()
      }
      if (host === undefined) {
        response.write(chunk, settle)
        this.#watch(connection.socket)
      } else {
        // A copy: who has taken a chunk may not have used it yet.
        host.write(Buffer.from(chunk), settle)
        if (host.isWaiting) this.#stalls.watch(connection.socket, () => host.isWaiting)
      }
    })
  }

  #finish(exchange: Exchange, body: WholeReply['body']): void {
    const { response, connection } = exchange
    if (typeof body === 'object' && 'pieces' in body) {
      return this.#finish(exchange, writeAllButLast(exchange, body))
    }
    if (!exchange.hasUnreadBody) {
      const isShort = body instanceof Uint8Array && body.length <= SHORT_BYTES
      // Node joins header and text to one write, without which a short answer costs a tenth more.
      if (isShort) response.end(decodeLatin1(body), 'latin1')
      else response.end(body)
    } else {
      if (body === undefined || body.length === 0) response.flushHeaders()
      else response.write(body)
      linger(exchange)
      drain(exchange, () => response.end())
    }
    if (isReplaced(response)) {
      this.#stalls.watch(connection.socket, () => !response.writableFinished)
    } else if (response.socket !== null) {
      this.#watch(connection.socket)
    } else {
      // Behind another answer of a pipelining client; written in the tick after this event.
      response.once('socket', () => setImmediate(() => this.#watch(connection.socket)))
    }
  }

  /** To be called after each write, of which mostly nothing is left here. */
  #watch(socket: Socket): void {
    if (socket.writableLength > 0) this.#stalls.watch(socket)
  }
}

/** @returns The last piece, with which the answer is to end. */
function writeAllButLast(exchange: Exchange, { pieces, isOwn }: Pieces): Uint8Array | undefined {
  if (isOwn !== true) for (const piece of pieces) exchange.shareBytes(piece)
  for (const piece of pieces.slice(0, -1)) exchange.response.write(piece)
  return pieces.at(-1)
}

/** A write fails when the client has left, which is no failure of ours. */
function clientGone(): DOMException {
  return new DOMException('The client has left', 'AbortError')
}

function isConditional({ method, isDecisive }: Exchange, { status }: Reply): boolean {
  return isDecisive && status === 200 && (method === 'GET' || method === 'HEAD')
}

function selectRange(
  { method, request }: Exchange,
  reply: Reply,
  size: number,
): ByteRange | undefined {
  const { range: header, 'if-range': ifRange } = request.headers
  if (header === undefined || method !== 'GET' || reply.status !== 200) return undefined
  if (typeof ifRange === 'string' && !isRangeCurrent(ifRange, reply.etag)) return undefined
  const range = parseRange(header, size)
  if (range !== 'unsatisfiable') return range
  throw new HttpError('RANGE_NOT_SATISFIABLE', { headers: ['Content-Range', `bytes */${size}`] })
}

/** Frames as chunks of an answer: all event streams get the same one, one after the other. */
class Chunks {
  #frame: Uint8Array | undefined
  #chunk: Buffer = Buffer.of()

  of(frame: Uint8Array): Buffer {
    if (frame !== this.#frame) {
      this.#frame = frame
      const size = Buffer.from(`${frame.length.toString(16)}\r\n`)
      this.#chunk = Buffer.concat([size, frame, END_OF_CHUNK])
    }
    return this.#chunk
  }
}

/** Whether a host has replaced the method, to compress what is written or to count it. */
function isReplaced(response: ServerResponse): boolean {
  return response.write !== ServerResponse.prototype.write
}

/** The host's method in place of Node's: such methods often know of no callback. */
class HostWrite {
  readonly #response: ServerResponse
  readonly #socket: Socket
  #onDrain: (() => void) | undefined

  constructor({ response, connection }: Exchange) {
    this.#response = response
    this.#socket = connection.socket
    // One listener for all writes: what compresses may pass it on, and not take it back.
    response.on('drain', () => this.#drained())
  }

  /** Whether what was written last has still to leave. */
  get isWaiting(): boolean {
    return this.#onDrain !== undefined
  }

  write(chunk: Uint8Array, onWritten: () => void): void {
    const isTaken: unknown = this.#response.write(chunk)
    const hasRoom = isTaken === undefined ? !this.#socket.writableNeedDrain : isTaken !== false
    if (hasRoom) return onWritten()
    this.#onDrain = onWritten
    if (isTaken === undefined) this.#socket.once('drain', () => this.#drained())
  }

  #drained(): void {
    const onDrain = this.#onDrain
    this.#onDrain = undefined
    onDrain?.()
  }
}

function tellWritten(error: unknown, onWritten: () => void): void {
  if (!error) onWritten()
}

const END_OF_CHUNK: Uint8Array = Buffer.from('\r\n')

/**
 * The way to the client of a live body. An object and no closures: it lives as long as its stream,
 * and there may be thousands.
 */
class LiveWire implements Wire {
  readonly #response: ServerResponse
  readonly #connection: Connection
  readonly #chunks: Chunks
  /** Behind a 101 the connection itself. */
  readonly #out: ServerResponse | Socket
  readonly #host: HostWrite | undefined
  #forget: (() => void) | undefined

  constructor(exchange: Exchange, chunks: Chunks) {
    const { request, response, connection } = exchange
    // Nobody reads the fields of the request any more, and the stream may live for days.
    request.rawHeaders.length = 0
    this.#response = response
    this.#connection = connection
    this.#chunks = chunks
    const isUpgraded = response.statusCode === 101
    this.#out = isUpgraded ? connection.socket : response
    this.#host = !isUpgraded && isReplaced(response) ? new HostWrite(exchange) : undefined
    connection.isLive = true
  }

  write(frame: Uint8Array | Pieces, onWritten: () => void): void {
    const pieces = 'pieces' in frame ? frame.pieces : [frame]
    const { socket } = this.#connection
    const isHeard = this.#response.socket !== null && socket.writable
    const isPlain = this.#host === undefined && this.#out !== socket
    if (isHeard && isPlain && this.#response.chunkedEncoding) {
      // Node would cut the chunk into four pieces, once for each client.
      for (const piece of pieces) socket.write(this.#chunks.of(piece))
      // Mostly the system has taken it by now: a callback would take objects, and a tick.
      if (socket.writableLength === 0) onWritten()
      else socket.write('', (error) => tellWritten(error, onWritten))
      return
    }
    const last = pieces.length - 1
    for (const piece of pieces.slice(0, last)) this.#out.write(piece)
    const piece = pieces[last] ?? Buffer.of()
    if (this.#host !== undefined) this.#host.write(piece, onWritten)
    else this.#out.write(piece, (error) => tellWritten(error, onWritten))
  }

  end(): void {
    const response = this.#response
    const { socket } = this.#connection
    this.#forget?.()
    this.#connection.isLive = false
    response.end()
    // A client that reads gets the end in this tick. One that does not read would keep the
    // connection, and whoever waits for its end, for as long as it likes.
    setImmediate(() => {
      if (!response.writableFinished) socket.destroy()
    })
  }

  onGone(callback: () => void): void {
    this.#forget = this.#connection.onGone(callback)
  }

  onData(callback: (chunk: Uint8Array) => void): void {
    const { socket } = this.#connection
    // A client that ends its side has nothing to hear from us either.
    socket.on('data', callback).once('end', () => socket.destroy())
  }

  pause(): void {
    this.#connection.socket.pause()
  }

  resume(): void {
    this.#connection.socket.resume()
  }
}
