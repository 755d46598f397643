// LEAD TO AUTHOR (delete this line when done): the hand-assembled WASM BLAKE3 must go. Rule of the house: a well-kept library beats own code, even a slower one. Use hash-wasm's BLAKE3 in the worker (0.95 GB/s is enough for all floors), delete wasm-code.ts, blake3-kernel.ts, webassembly.d.ts. Then do src/storage at once: everybody waits for it.
/**
 * Just enough of an assembler to write one WebAssembly function by hand.
 *
 * Every function returns the bytes of an instruction, or of a piece of a module. Numbers in the
 * names of opcodes are those of the WebAssembly core specification, section 5.4.
 *
 * @module
 */

/** A piece of a module. */
export type Code = readonly number[]

export const I32 = 0x7f
export const V128 = 0x7b

export const LOOP: Code = [0x03, 0x40]
export const END: Code = [0x0b]
export const SELECT: Code = [0x1b]
export const I32_EQ: Code = [0x46]
export const I32_ADD: Code = [0x6a]
export const I32_SUB: Code = [0x6b]
export const I32_MUL: Code = [0x6c]
export const I32_OR: Code = [0x72]

export const SPLAT: Code = simd(17)
export const V_OR: Code = simd(80)
export const V_XOR: Code = simd(81)
export const V_SHL: Code = simd(171)
export const V_SHR: Code = simd(173)
export const V_ADD: Code = simd(174)
export const V_MUL: Code = simd(181)

export function get(local: number): Code {
  return [0x20, ...unsigned(local)]
}

export function set(local: number): Code {
  return [0x21, ...unsigned(local)]
}

/** Stores into a local, and leaves the value on the stack. */
export function tee(local: number): Code {
  return [0x22, ...unsigned(local)]
}

/** Branches to a label that many blocks out, when the stack holds something other than 0. */
export function branchIf(depth: number): Code {
  return [0x0d, ...unsigned(depth)]
}

/** A constant below 8192. */
export function i32(value: number): Code {
  // Signed LEB128: bit 6 of the last byte is the sign.
  return value < 0x40 ? [0x41, value] : [0x41, (value & 0x7f) | 0x80, value >>> 7]
}

/** Four 32-bit words as a constant. */
export function words(values: readonly number[]): Code {
  return [...simd(12), ...new Uint8Array(Uint32Array.from(values).buffer)]
}

/** Loads 16 bytes, without assuming alignment. */
export function load(offset: number): Code {
  return [...simd(0), 0, ...unsigned(offset)]
}

/** Stores 16 bytes, without assuming alignment. */
export function store(offset: number): Code {
  return [...simd(11), 0, ...unsigned(offset)]
}

/** Picks 16 bytes out of the 32 of two vectors. */
export function shuffle(lanes: readonly number[]): Code {
  return [...simd(13), ...lanes]
}

/** A module of one function, `name`, over the memory that it imports as `env.memory`. */
export function moduleOf(
  name: string,
  { parameters, locals, body }: {
    /** How many, all of them `i32`. */
    readonly parameters: number
    /** How many, all of them `v128` but the first, which is `i32`. */
    readonly locals: number
    readonly body: Code
  },
): Uint8Array {
  const code = [2, 1, I32, ...unsigned(locals - 1), V128, ...body, ...END]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, parameters, ...Array<number>(parameters).fill(I32), 0]),
    ...section(2, [1, ...text('env'), ...text('memory'), 0x02, 0x00, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text(name), 0x00, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ])
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content]
}

function text(value: string): Code {
  return [value.length, ...Buffer.from(value, 'latin1')]
}

function simd(opcode: number): Code {
  return [0xfd, ...unsigned(opcode)]
}

/** LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}
