/**
 * The messages of a Wayland connection, as far as asking what a compositor can do needs them.
 *
 * A message is the id of an object, then 16 bits of size and 16 bits of opcode in one word, then
 * arguments in words, all in the byte order of the machine. No message here carries a descriptor,
 * which Node could neither send nor receive.
 * @module
 */

import { endianness } from 'node:os'

/** One message of the wire protocol. */
export interface WaylandMessage {
  readonly object: number
  readonly opcode: number
  /** Its arguments. */
  readonly body: Uint8Array
}

const HEADER_BYTES = 8
const WORD_BYTES = 4
const IS_LITTLE = endianness() === 'LE'

/**
 * Cuts bytes into messages, however they arrive.
 *
 * @returns Takes the next bytes; throws an `Error` when they are no messages.
 */
export function splitWaylandMessages(
  onMessage: (message: WaylandMessage) => void,
): (chunk: Uint8Array) => void {
  // Never longer than one message, which is 64 KiB at most, and one chunk.
  let rest: Uint8Array = new Uint8Array(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= HEADER_BYTES) {
      const word = readWord(rest, WORD_BYTES)
      const [size, opcode] = [word >>> 16, word & 0xffff]
      if (size < HEADER_BYTES) throw new Error('Cannot read a Wayland message: it has no size')
      if (rest.length < size) break
      const body = rest.subarray(HEADER_BYTES, size)
      onMessage({ object: readWord(rest, 0), opcode, body })
      rest = rest.subarray(size)
    }
  }
}

/** Formats a message whose arguments are words. */
export function formatWaylandMessage(
  object: number,
  opcode: number,
  words: readonly number[],
): Uint8Array {
  const size = HEADER_BYTES + WORD_BYTES * words.length
  return formatWords([object, ((size << 16) | opcode) >>> 0, ...words])
}

/** Words in the byte order of the machine. */
export function formatWords(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(WORD_BYTES * words.length)
  const view = new DataView(bytes.buffer)
  for (const [index, word] of words.entries()) view.setUint32(WORD_BYTES * index, word, IS_LITTLE)
  return bytes
}

/**
 * The interface that `wl_registry.global` announces, between its name and its version; `undefined`
 * when the arguments are not of that kind.
 */
export function parseAnnouncedInterface(body: Uint8Array): string | undefined {
  const start = 2 * WORD_BYTES
  if (body.length < start) return undefined
  // With its NUL, and without what fills the last word.
  const length = readWord(body, WORD_BYTES)
  const end = start + Math.ceil(length / WORD_BYTES) * WORD_BYTES
  if (length === 0 || body.length < end + WORD_BYTES) return undefined
  return Buffer.from(body.subarray(start, start + length - 1)).toString('latin1')
}

function readWord(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(offset, IS_LITTLE)
}
