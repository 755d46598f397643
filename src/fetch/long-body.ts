/**
 * Reads the long body of an answer into memory that is used again. Node makes a buffer for each
 * read and copies the body out of it, which leaves twice a large file to the garbage collector.
 *
 * Node's parser sees the head of such an answer, and of its body no more than came with that; so
 * the connection can be used for nothing else, and ends with the body.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { Socket, TcpSocketConnectOpts } from 'node:net'
import type { BodyReader, FetchedBody } from '../client/server.ts'
import { KIB, MIB } from '../core/limits.ts'
import { freeBytes, lend } from '../lib/read-bytes.ts'

/** A new connection costs less than copies of so much. */
const LONG_BYTES: number = MIB

const BLOCK_BYTES: number = 256 * KIB

/** As much as Node reads at a time. A block with less room is full. */
const READ_BYTES: number = 64 * KIB

/** Bytes that may wait for a slow reader before the sender is held back. */
const MAX_WAITING_BYTES: number = 512 * KIB

const WITH_BODY: readonly number[] = [200, 206]

/** Who gets what a connection brings: a body, or the parser of Node. */
interface Reading {
  body: LongBody | undefined
}

/** The connections that have begun to read in this way. */
const readings = new WeakMap<Socket, Reading>()

/** Opens a connection whose long bodies can be taken. */
export function openReadable<Options extends object>(
  open: (options: Options & Pick<TcpSocketConnectOpts, 'onread'>) => Socket,
  options: Options,
): Socket {
  const reading: Reading = { body: undefined }
  const short = Buffer.allocUnsafeSlow(READ_BYTES)
  const callback = (length: number, bytes: Uint8Array): boolean => {
    const read = bytes.subarray(0, length)
    if (reading.body !== undefined) return reading.body.take(read)
    readings.set(socket, reading)
    return socket.push(Buffer.from(read))
  }
  const buffer = (): Uint8Array => reading.body?.room() ?? short
  const socket = open({ ...options, onread: { buffer, callback } })
  return socket
}

/**
 * Takes the body of an answer to a GET, when it is long. To be called as soon as the answer is
 * there, before anything was read of it.
 */
export function takeLongBody(answer: IncomingMessage): FetchedBody | undefined {
  const { statusCode = 0, headers, socket } = answer
  const length = Number(headers['content-length'])
  const isLong = length >= LONG_BYTES && headers['transfer-encoding'] === undefined
  // Others may tell a length without a body.
  if (!isLong || !WITH_BODY.includes(statusCode)) return undefined
  const reading = readings.get(socket)
  // Bytes that wait between the socket and the parser are for the parser.
  if (reading === undefined || socket.readableLength > 0) return undefined
  reading.body = new LongBody(answer, length)
  return reading.body
}

/** Memory that is filled from its beginning to its end, in parts that are lent. */
class Block {
  readonly bytes = new ArrayBuffer(BLOCK_BYTES)
  used = 0
  lent = 0

  get room(): number {
    return BLOCK_BYTES - this.used
  }
}

class LongBody implements FetchedBody, BodyReader {
  readonly #answer: IncomingMessage
  readonly #chunks: Uint8Array<ArrayBuffer>[] = []
  readonly #spare: Block[] = []
  #block = new Block()
  /** Bytes that are still to come. */
  #left: number
  #waiting = 0
  #isHeldBack = false
  #isBegun = false
  #failure: { readonly cause: unknown } | undefined
  #wake: () => void = () => undefined

  constructor(answer: IncomingMessage, length: number) {
    this.#answer = answer
    this.#left = length
    answer.on('error', (cause) => this.#fail(cause))
    answer.on('close', () => this.#fail(new Error('the connection ended too soon')))
  }

  getReader(): BodyReader {
    return this
  }

  async read(): Promise<{ readonly value?: Uint8Array<ArrayBuffer> }> {
    this.#begin()
    for (;;) {
      const value = this.#chunks.shift()
      if (value !== undefined) {
        this.#waiting -= value.length
        if (this.#waiting < MAX_WAITING_BYTES / 2) this.#letGoOn()
        return { value }
      }
      if (this.#left === 0) {
        await this.cancel()
        return {}
      }
      if (this.#failure !== undefined) throw this.#failure.cause
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  free(chunk: Uint8Array): void {
    freeBytes(chunk)
  }

  async cancel(): Promise<void> {
    this.#answer.destroy()
  }

  /** Where the next bytes of the connection go. */
  room(): Uint8Array {
    if (this.#block.room < READ_BYTES) this.#block = this.#emptyBlock()
    return new Uint8Array(this.#block.bytes, this.#block.used)
  }

  /** @returns Whether more may come. */
  take(read: Uint8Array): boolean {
    this.#begin()
    // Behind the body there is nothing that anybody wants.
    if (this.#left === 0) return false
    const length = Math.min(read.length, this.#left)
    const block = this.#block
    if (read.buffer === block.bytes) {
      const chunk = new Uint8Array(block.bytes, block.used, length)
      block.used += length
      block.lent += 1
      lend(chunk, () => this.#takeBack(block))
      this.#add(chunk)
    } else {
      // The room for it was made before the body was known.
      this.#add(new Uint8Array(read.subarray(0, length)))
    }
    this.#isHeldBack = this.#waiting >= MAX_WAITING_BYTES
    return !this.#isHeldBack
  }

  /** Takes the bytes that came with the head, which have gone through the parser. */
  #begin(): void {
    if (this.#isBegun) return
    this.#isBegun = true
    const first: Buffer<ArrayBuffer> | null = this.#answer.read()
    if (first !== null) this.#add(first)
  }

  #add(chunk: Uint8Array<ArrayBuffer>): void {
    this.#chunks.push(chunk)
    this.#waiting += chunk.length
    this.#left -= chunk.length
    this.#wake()
  }

  #letGoOn(): void {
    if (!this.#isHeldBack) return
    this.#isHeldBack = false
    this.#answer.socket.resume()
  }

  /** Only what came back is kept: readers that never free anything would fill the memory. */
  #emptyBlock(): Block {
    const block = this.#block.lent === 0 ? this.#block : (this.#spare.pop() ?? new Block())
    block.used = 0
    return block
  }

  #takeBack(block: Block): void {
    block.lent -= 1
    if (block.lent === 0 && block !== this.#block) this.#spare.push(block)
  }

  #fail(cause: unknown): void {
    this.#failure ??= { cause }
    this.#wake()
  }
}
