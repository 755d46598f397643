/**
 * Decompresses PackBits (TIFF 6.0, section 9): runs of equal bytes, and bytes as they are.
 *
 * @module
 */

/** Longer than the longest run. */
const CHUNK_BYTES: number = 64 * 1024

/** The longest run, and the longest row of bytes as they are. */
const MAX_RUN = 128

/**
 * What `packed` decompresses to; each chunk is valid until the next one is asked for, may be empty,
 * and costs a bounded amount of work. Nothing is an error, not even bytes that end early.
 */
export function* decodePackBits(packed: Uint8Array): Generator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES)
  let filled = 0
  let pause = CHUNK_BYTES
  for (let at = 0; at < packed.length; ) {
    // Bytes that mean nothing cost time as well.
    if (filled + MAX_RUN > CHUNK_BYTES || at >= pause) {
      yield chunk.subarray(0, filled)
      filled = 0
      pause = at + CHUNK_BYTES
    }
    const head = packed[at] ?? 0
    at += 1
    if (head < MAX_RUN) {
      const literal = packed.subarray(at, at + head + 1)
      chunk.set(literal, filled)
      filled += literal.length
      at += head + 1
    } else if (head > MAX_RUN) {
      const length = 257 - head
      chunk.fill(packed[at] ?? 0, filled, filled + length)
      filled += length
      at += 1
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}
