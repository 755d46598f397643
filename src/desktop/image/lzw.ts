/**
 * Decompresses LZW as TIFF has it (TIFF 6.0, section 13): most significant bits first, codes of 9
 * to 12 bits, the width grows one code early.
 *
 * @module
 */

import { PictureError } from './picture.ts'

const CLEAR = 256
const END = 257
const FIRST_FREE = 258
const MAX_CODES = 4096
const MIN_WIDTH = 9
const MAX_WIDTH = 12

/** Longer than the longest string of a code. */
const CHUNK_BYTES: number = 64 * 1024

/**
 * What `packed` decompresses to; each chunk is valid until the next one is asked for, may be empty,
 * and costs a bounded amount of work.
 *
 * @throws {PictureError} `MALFORMED`. Bytes that end early are no error here.
 */
export function* decodeLzw(packed: Uint8Array): Generator<Uint8Array> {
  // The string of a code is that of another one and one more byte.
  const prefix = new Uint16Array(MAX_CODES)
  const last = new Uint8Array(MAX_CODES)
  const lengths = new Uint16Array(MAX_CODES)
  for (let code = 0; code < CLEAR; code += 1) {
    last[code] = code
    lengths[code] = 1
  }
  const chunk = new Uint8Array(CHUNK_BYTES)
  let filled = 0
  let next = FIRST_FREE
  let width = MIN_WIDTH
  let previous = -1
  let bits = 0
  let count = 0

  for (let read = 0; read < packed.length; read += 1) {
    // Codes that mean nothing cost time as well.
    if (read % CHUNK_BYTES === CHUNK_BYTES - 1) {
      yield chunk.subarray(0, filled)
      filled = 0
    }
    bits = ((bits << 8) | (packed[read] ?? 0)) & 0xff_ffff
    count += 8
    if (count < width) continue
    count -= width
    const code = (bits >> count) & ((1 << width) - 1)
    if (code === END) break
    if (code === CLEAR) {
      next = FIRST_FREE
      width = MIN_WIDTH
      previous = -1
      continue
    }
    const isNew = code === next && previous !== -1
    if (code >= next && !isNew) throw new PictureError('MALFORMED', 'its pixels are damaged')
    // A code may stand for itself: then it is the previous string and its own first byte.
    const source = isNew ? previous : code
    const length = (lengths[source] ?? 0) + (isNew ? 1 : 0)
    if (filled + length > CHUNK_BYTES) {
      yield chunk.subarray(0, filled)
      filled = 0
    }
    let at = filled + length - 1
    if (isNew) at -= 1
    for (let from = source; at >= filled; at -= 1) {
      chunk[at] = last[from] ?? 0
      from = prefix[from] ?? 0
    }
    const first = chunk[filled] ?? 0
    if (isNew) chunk[filled + length - 1] = first
    filled += length
    if (previous !== -1 && next < MAX_CODES) {
      prefix[next] = previous
      last[next] = first
      lengths[next] = (lengths[previous] ?? 0) + 1
      next += 1
      if (next + 1 >= 1 << width && width < MAX_WIDTH) width += 1
    }
    previous = code
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}
