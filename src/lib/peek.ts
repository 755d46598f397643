/**
 * Looks at the beginning of a byte stream without taking it away.
 *
 * @module
 */

/** A stream whose beginning is known. */
export interface Peeked {
  /** The first bytes; fewer than asked for only when the stream ends there. */
  readonly head: Uint8Array
  /** All bytes, those of `head` included. To be iterated once. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Reads until `length` bytes are there, or the stream ends.
 *
 * @throws Whatever `source` throws meanwhile.
 */
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
  return { head: concat(chunks, Math.min(size, length)), bytes: resume(chunks, iterator) }
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

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    const part = chunk.subarray(0, length - at)
    joined.set(part, at)
    at += part.length
  }
  return joined
}
