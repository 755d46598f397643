/** Reads bytes at rest, and the beginning of a stream; frees bytes that are used up. @module */

import { MessageChannel, type MessagePort } from 'node:worker_threads'

/** Bytes at rest: structurally a `Blob` of the ports. */
export interface Openable {
  open(): Promise<{
    read(target: Uint8Array, position: number): Promise<number>
    close(): Promise<void>
  }>
}

/** The first `length` bytes, or all when there are fewer. */
export async function readStart(bytes: Openable, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const start = new Uint8Array(length)
  const opened = await bytes.open()
  try {
    return start.subarray(0, await opened.read(start, 0))
  } finally {
    await opened.close()
  }
}

/** All bytes, in memory. */
export function readWhole(
  bytes: Openable & { readonly size: number },
): Promise<Uint8Array<ArrayBuffer>> {
  return readStart(bytes, bytes.size)
}

/**
 * The bytes from `start` up to `end`, in blocks of `blockSize` bytes; the last one may be shorter.
 * Each block has memory of its own. Ends early where the bytes end early.
 */
export async function* blocksOf(
  bytes: Openable & { readonly size: number },
  { blockSize, start = 0, end = bytes.size }: BlockOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const opened = await bytes.open()
  try {
    for (let position = start; position < end; ) {
      const block = new Uint8Array(Math.min(blockSize, end - position))
      const length = await opened.read(block, position)
      if (length === 0) return
      yield block.subarray(0, length)
      position += length
    }
  } finally {
    await opened.close()
  }
}

/** Which bytes {@link blocksOf} yields, and how many at a time. */
export interface BlockOptions {
  readonly blockSize: number
  /** Offset of the first byte; 0 unless given. */
  readonly start?: number
  /** Offset behind the last byte; the end of the bytes unless given. */
  readonly end?: number
}

/** A stream whose beginning is known. */
export interface Peeked {
  /** The first bytes; fewer than asked for only when the stream ends there. */
  readonly head: Uint8Array
  /** All bytes, those of `head` included. To be iterated once. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Reads `source` until `length` bytes are there or it ends, and takes nothing away. */
export async function peek(source: AsyncIterable<Uint8Array>, length: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let size = 0
  while (size < length) {
    const { done, value } = await iterator.next()
    if (done === true) break
    chunks.push(value)
    size += value.length
  }
  return { head: Buffer.concat(chunks, Math.min(size, length)), bytes: resume(chunks, iterator) }
}

async function* resume(
  chunks: readonly Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) return
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}

/** A stream of one piece: yields `bytes`, and ends. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * Less is not worth the call that frees it. The garbage collector frees bytes when it next runs,
 * for which a large transfer makes too few objects: tens of megabytes wait for it, in blocks that
 * malloc keeps when they are freed late.
 */
const MIN_BYTES = 4096

const handedOver = new WeakSet<object>()
const lent = new WeakMap<object, () => void>()

/** A closed port: all that is sent through it is gone. */
let nowhere: MessagePort | undefined

/** Says that nobody but the receiver has these bytes. */
export function handOver({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= MIN_BYTES && byteLength === buffer.byteLength) handedOver.add(buffer)
}

/** Says that these bytes are the receiver's until it frees them: other ones may then be there. */
export function lend(bytes: Uint8Array, takeBack: () => void): void {
  lent.set(bytes, takeBack)
}

/**
 * Frees bytes that were handed over, which are empty then, and gives back those that were lent;
 * leaves others, and parts, alone.
 */
export function freeBytes(bytes: Uint8Array): void {
  const takeBack = lent.get(bytes)
  if (takeBack !== undefined) {
    lent.delete(bytes)
    return takeBack()
  }
  const { buffer, byteLength } = bytes
  if (byteLength !== buffer.byteLength || !handedOver.delete(buffer)) return
  nowhere ??= openNowhere()
  nowhere.postMessage(undefined, [buffer as ArrayBuffer])
}

function openNowhere(): MessagePort {
  const { port1 } = new MessageChannel()
  port1.close()
  return port1
}
