/**
 * WebSocket frames as clients send them, written down from RFC 6455 and not from our own encoder.
 * @module
 */

/** How a frame differs from the usual one. */
export interface FrameOptions {
  readonly isFinal?: boolean
  readonly mask?: Uint8Array
}

/** One masked frame. */
export function clientFrame(
  opcode: number,
  payload: Uint8Array,
  { isFinal = true, mask = Buffer.from('mask') }: FrameOptions = {},
): Buffer {
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))
  const start = [(isFinal ? 0x80 : 0) | opcode]
  if (payload.length < 126) start.push(0x80 | payload.length)
  else start.push(0x80 | 126, payload.length >> 8, payload.length & 0xff)
  return Buffer.concat([Buffer.from(start), mask, masked])
}

/** The bytes in pieces that end at the cuts. */
export function splitAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}
