// LEAD TO AUTHOR (delete this line when done): the hand-assembled WASM BLAKE3 must go. Rule of the house: a well-kept library beats own code, even a slower one. Use hash-wasm's BLAKE3 in the worker (0.95 GB/s is enough for all floors), delete wasm-code.ts, blake3-kernel.ts, webassembly.d.ts. Then do src/storage at once: everybody waits for it.
/**
 * The inner loop of BLAKE3, four inputs at a time, as a WebAssembly module with SIMD.
 *
 * The package that hashes small things has no SIMD and is two and a half times slower, which
 * would make BLAKE3 the slowest step of an upload. What the words here mean, and the numbers, are
 * in the BLAKE3 paper, section 2; the tree above the inner loop is in `blake3-worker.js`.
 *
 * @module
 */

import {
  branchIf, END, get, i32, I32_ADD, I32_EQ, I32_MUL, I32_OR, I32_SUB, load, LOOP, moduleOf, SELECT, set,
  shuffle, SPLAT, store, tee, V_ADD, V_MUL, V_OR, V_SHL, V_SHR, V_XOR, words, type Code,
} from './wasm-code.ts'

const IV = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
const ROUNDS = 7
const BLOCK_BYTES = 64

/** The parameters of the function, in order. */
const [INPUT, STRIDE, BLOCKS, COUNTER, COUNTER_HIGH, COUNTER_STEP, FIRST, ALL, LAST, LENGTH, OUTPUT] =
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const
const PARAMETERS = 11

/** The locals after them. A vector holds the same word of all four inputs. */
const BLOCK = 11
const CHAIN = range(8, 12)
const STATE = range(16, 20)
const MESSAGE = range(16, 36)
const HALF = range(4, 52)
const LOCALS = 45

/**
 * Writes the module. Its one function hashes four inputs of as many blocks each:
 *
 * `compress(input, stride, blocks, counter, counterHigh, counterStep, first, all, last, length,
 * output)`: the inputs begin at `input`, `stride` bytes apart; input `i` is chunk number
 * `counter + i * counterStep`; the flags `first` and `last` go to the first and the last block,
 * `all` to every one; the last block holds `length` bytes, and zeros after them. The four chaining
 * values of 32 bytes each go to `output`, after the last byte was read.
 */
export function blake3Kernel(): Uint8Array {
  const body = [
    ...CHAIN.flatMap((local, i) => [...splatOf(IV[i]), ...set(local)]),
    ...get(INPUT), ...set(BLOCK),
    ...LOOP,
    ...loadMessage(),
    ...initState(),
    ...rounds(),
    ...CHAIN.flatMap((local, i) => [
      ...get(at(STATE, i)), ...get(at(STATE, i + 8)), ...V_XOR, ...set(local),
    ]),
    ...get(BLOCK), ...i32(BLOCK_BYTES), ...I32_ADD, ...set(BLOCK),
    ...get(BLOCKS), ...i32(1), ...I32_SUB, ...tee(BLOCKS), ...branchIf(0),
    ...END,
    ...storeChain(),
  ]
  return moduleOf('compress', { parameters: PARAMETERS, locals: LOCALS, body })
}

/** Loads one block of each input, and turns it so that a vector holds one word of all. */
function loadMessage(): Code {
  return [0, 4, 8, 12].flatMap((word) => {
    const rows = MESSAGE.slice(word, word + 4)
    const loads = rows.flatMap((local, lane) => [
      ...get(BLOCK), ...get(STRIDE), ...i32(lane), ...I32_MUL, ...I32_ADD,
      ...load(word * 4), ...set(local),
    ])
    return [...loads, ...transpose(rows, rows)]
  })
}

function initState(): Code {
  return [
    ...CHAIN.flatMap((local, i) => [...get(local), ...set(at(STATE, i))]),
    ...[0, 1, 2, 3].flatMap((i) => [...splatOf(IV[i]), ...set(at(STATE, 8 + i))]),
    ...get(COUNTER), ...SPLAT,
    ...words([0, 1, 2, 3]), ...get(COUNTER_STEP), ...SPLAT, ...V_MUL, ...V_ADD, ...set(at(STATE, 12)),
    ...get(COUNTER_HIGH), ...SPLAT, ...set(at(STATE, 13)),
    ...get(LENGTH), ...i32(BLOCK_BYTES), ...isLast(), ...SELECT, ...SPLAT, ...set(at(STATE, 14)),
    ...get(FIRST), ...get(ALL), ...I32_OR,
    ...get(LAST), ...i32(0), ...isLast(), ...SELECT, ...I32_OR, ...SPLAT, ...set(at(STATE, 15)),
    ...i32(0), ...set(FIRST),
  ]
}

function rounds(): Code {
  const code: number[] = []
  let order = range(16, 0)
  for (let round = 0; round < ROUNDS; round++) {
    const word = (i: number): number => at(MESSAGE, at(order, i))
    for (let i = 0; i < 4; i++) {
      code.push(...mix([i, 4 + i, 8 + i, 12 + i], word(2 * i), word(2 * i + 1)))
    }
    for (let i = 0; i < 4; i++) {
      const diagonal = [i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4)]
      code.push(...mix(diagonal, word(8 + 2 * i), word(9 + 2 * i)))
    }
    order = PERMUTATION.map((i) => at(order, i))
  }
  return code
}

/** The quarter round G. */
function mix(indices: readonly number[], x: number, y: number): Code {
  const [a = 0, b = 0, c = 0, d = 0] = indices.map((i) => at(STATE, i))
  const half = (word: number, rotateD: number, rotateB: number): Code => [
    ...get(a), ...get(b), ...V_ADD, ...get(word), ...V_ADD, ...set(a),
    ...get(d), ...get(a), ...V_XOR, ...set(d), ...rotateRight(d, rotateD),
    ...get(c), ...get(d), ...V_ADD, ...set(c),
    ...get(b), ...get(c), ...V_XOR, ...set(b), ...rotateRight(b, rotateB),
  ]
  return [...half(x, 16, 12), ...half(y, 8, 7)]
}

function rotateRight(local: number, bits: number): Code {
  if (bits % 8 === 0) {
    const lanes = range(16, 0).map((i) => (i & ~3) + ((i + bits / 8) & 3))
    return [...get(local), ...get(local), ...shuffle(lanes), ...set(local)]
  }
  return [
    ...get(local), ...i32(bits), ...V_SHR,
    ...get(local), ...i32(32 - bits), ...V_SHL, ...V_OR, ...set(local),
  ]
}

function storeChain(): Code {
  const low = MESSAGE.slice(0, 4)
  const high = MESSAGE.slice(4, 8)
  return [
    ...transpose(CHAIN.slice(0, 4), low),
    ...transpose(CHAIN.slice(4, 8), high),
    ...low.flatMap((local, lane) => [...get(OUTPUT), ...get(local), ...store(lane * 32)]),
    ...high.flatMap((local, lane) => [...get(OUTPUT), ...get(local), ...store(lane * 32 + 16)]),
  ]
}

/** Turns four rows of words into columns. */
function transpose(rows: readonly number[], columns: readonly number[]): Code {
  const pick = (from: readonly number[], i: number, j: number, lanes: readonly number[]): Code => [
    ...get(at(from, i)), ...get(at(from, j)),
    ...shuffle(lanes.flatMap((lane) => range(4, lane * 4))),
  ]
  const low = [0, 4, 1, 5]
  const high = [2, 6, 3, 7]
  return [
    ...pick(rows, 0, 1, low), ...set(at(HALF, 0)),
    ...pick(rows, 0, 1, high), ...set(at(HALF, 1)),
    ...pick(rows, 2, 3, low), ...set(at(HALF, 2)),
    ...pick(rows, 2, 3, high), ...set(at(HALF, 3)),
    ...pick(HALF, 0, 2, [0, 1, 4, 5]), ...set(at(columns, 0)),
    ...pick(HALF, 0, 2, [2, 3, 6, 7]), ...set(at(columns, 1)),
    ...pick(HALF, 1, 3, [0, 1, 4, 5]), ...set(at(columns, 2)),
    ...pick(HALF, 1, 3, [2, 3, 6, 7]), ...set(at(columns, 3)),
  ]
}

function isLast(): Code {
  return [...get(BLOCKS), ...i32(1), ...I32_EQ]
}

function splatOf(word = 0): Code {
  return words([word, word, word, word])
}

function range(length: number, start: number): readonly number[] {
  return Array.from({ length }, (_, i) => start + i)
}

/** Every index here is a constant within bounds; a slip would not pass a single vector. */
function at(values: readonly number[], index: number): number {
  const value = values[index]
  if (value === undefined) throw new RangeError(`Cannot assemble: nothing at ${index}`)
  return value
}
