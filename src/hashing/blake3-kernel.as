/**
 * BLAKE3 (hash mode, 32 bytes), four chunks side by side: AssemblyScript, for WebAssembly with SIMD.
 *
 * Everything goes through one function, `compress`, which works on four blocks at a time, each in a
 * lane of its vectors. Where there is only one block it stands in all lanes, and the first counts.
 * Names are those of the paper, https://github.com/BLAKE3-team/BLAKE3-specs: chunk, block, chaining
 * value (cv), parent, root.
 *
 * The caller puts bytes at `INPUT` and says how many chunks came before them. What is remembered
 * between two calls is the stack of chaining values at `STACK`, which belongs to one file: a caller
 * with several files exchanges it. The files end below 4 TiB, where chunks need a larger number.
 */

const BLOCK_BYTES: u32 = 64
export const CHUNK_BYTES: u32 = 1024
const CV_BYTES: u32 = 32

/** Chunks that `update` takes. A power of two, so that they are a whole subtree. */
const BATCH_CHUNKS: u32 = 64

const CHUNK_START: u32 = 1
const CHUNK_END: u32 = 2
const PARENT: u32 = 4
const ROOT: u32 = 8

// Memory. Lanes that do not count may be written up to 96 bytes behind what counts.
/** The 16 words of a block, as vectors. */
const MESSAGE: usize = 0x800
/** The 8 words of the chaining value, as vectors. */
const CHAIN: usize = 0x900
/** Chaining values of a batch. */
const CVS: usize = 0x1000
export const STACK: usize = 0x2000
/** One for each bit of the number of chunks. */
export const STACK_BYTES: usize = 32 * CV_BYTES
export const INPUT: usize = 0x10000
export const BATCH_BYTES: usize = BATCH_CHUNKS * CHUNK_BYTES

const IV0: u32 = 0x6a09e667
const IV1: u32 = 0xbb67ae85
const IV2: u32 = 0x3c6ef372
const IV3: u32 = 0xa54ff53a
const IV4: u32 = 0x510e527f
const IV5: u32 = 0x9b05688c
const IV6: u32 = 0x1f83d9ab
const IV7: u32 = 0x5be0cd19

/** Hashes a batch at `INPUT` behind which there is more; `before` is a multiple of its chunks. */
export function update(before: u32): void {
  for (let chunk: u32 = 0; chunk < BATCH_CHUNKS; chunk += 4) {
    const input = INPUT + chunk * CHUNK_BYTES
    hashChunks(input, CHUNK_BYTES, before + chunk, CHUNK_BYTES, 0)
    storeChain(CVS + chunk * CV_BYTES)
  }
  for (let parents = BATCH_CHUNKS / 2; parents > 0; parents /= 2) {
    for (let first: u32 = 0; first < parents; first += 4) {
      hashParents(CVS + 2 * first * CV_BYTES, 2 * CV_BYTES, 0)
      storeChain(CVS + first * CV_BYTES)
    }
  }
  const top = topOf(before)
  memory.copy(top, CVS, CV_BYTES)
  mergeFull(top, (before + BATCH_CHUNKS) / BATCH_CHUNKS)
}

/** Ends a file with the last `length` bytes, at most a batch; the digest is at `STACK` then. */
export function finish(before: u32, length: u32): void {
  let input = INPUT
  let chunk = before
  for (; length > CHUNK_BYTES; length -= CHUNK_BYTES) {
    const top = topOf(chunk)
    hashChunks(input, 0, chunk, CHUNK_BYTES, 0)
    storeChain(top)
    mergeFull(top, ++chunk)
    input += CHUNK_BYTES
  }
  let top = topOf(chunk)
  memory.fill(input + length, 0, CHUNK_BYTES - length)
  hashChunks(input, 0, chunk, length, top == STACK ? ROOT : 0)
  storeChain(top)
  for (; top > STACK; top -= CV_BYTES) merge(top, top == STACK + CV_BYTES ? ROOT : 0)
}

/** Where the next chaining value goes: a subtree is on the stack for each bit of their number. */
function topOf(chunks: u32): usize {
  return STACK + popcnt(chunks) * CV_BYTES
}

/** Merges the subtrees that the last one, at `top`, makes whole; `count` are as large as it. */
function mergeFull(top: usize, count: u32): void {
  for (; (count & 1) == 0; count >>= 1) {
    merge(top, 0)
    top -= CV_BYTES
  }
}

/** Replaces the chaining value at `top` and the one below it by that of their parent. */
function merge(top: usize, root: u32): void {
  hashParents(top - CV_BYTES, 0, root)
  storeChain(top - CV_BYTES)
}

/** Hashes four chunks, the first at `input` and number `first`, the others `stride` bytes apart. */
function hashChunks(input: usize, stride: usize, first: u32, length: u32, root: u32): void {
  const counters = add(i32x4.splat(first), i32x4(0, 1, 2, 3))
  let flags = CHUNK_START
  startChain()
  for (; length > BLOCK_BYTES; length -= BLOCK_BYTES) {
    compress(input, stride, counters, BLOCK_BYTES, flags)
    input += BLOCK_BYTES
    flags = 0
  }
  compress(input, stride, counters, length, flags | CHUNK_END | root)
}

/** Hashes four parents of pairs of chaining values. */
function hashParents(pairs: usize, stride: usize, root: u32): void {
  startChain()
  compress(pairs, stride, i32x4.splat(0), BLOCK_BYTES, PARENT | root)
}

function startChain(): void {
  v128.store(CHAIN, i32x4.splat(IV0), 0)
  v128.store(CHAIN, i32x4.splat(IV1), 16)
  v128.store(CHAIN, i32x4.splat(IV2), 32)
  v128.store(CHAIN, i32x4.splat(IV3), 48)
  v128.store(CHAIN, i32x4.splat(IV4), 64)
  v128.store(CHAIN, i32x4.splat(IV5), 80)
  v128.store(CHAIN, i32x4.splat(IV6), 96)
  v128.store(CHAIN, i32x4.splat(IV7), 112)
}

/** Writes four chaining values of 32 bytes, from the lanes of `CHAIN`. */
function storeChain(target: usize): void {
  transpose(CHAIN, 16, target, CV_BYTES)
  transpose(CHAIN + 64, 16, target + 16, CV_BYTES)
}

/** Four words from each of four places to four places: the first words to the first place. */
@inline
function transpose(from: usize, fromStride: usize, to: usize, toStride: usize): void {
  const a = v128.load(from)
  const b = v128.load(from + fromStride)
  const c = v128.load(from + 2 * fromStride)
  const d = v128.load(from + 3 * fromStride)
  const abLow = v128.shuffle<i32>(a, b, 0, 4, 1, 5)
  const abHigh = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
  const cdLow = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
  const cdHigh = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
  v128.store(to, v128.shuffle<i64>(abLow, cdLow, 0, 2))
  v128.store(to + toStride, v128.shuffle<i64>(abLow, cdLow, 1, 3))
  v128.store(to + 2 * toStride, v128.shuffle<i64>(abHigh, cdHigh, 0, 2))
  v128.store(to + 3 * toStride, v128.shuffle<i64>(abHigh, cdHigh, 1, 3))
}

/** The compression function on four blocks: `CHAIN` is what went before, and what comes out. */
function compress(block: usize, stride: usize, counters: v128, length: u32, flags: u32): void {
  transpose(block, stride, MESSAGE, 16)
  transpose(block + 16, stride, MESSAGE + 64, 16)
  transpose(block + 32, stride, MESSAGE + 128, 16)
  transpose(block + 48, stride, MESSAGE + 192, 16)

  let s0 = v128.load(CHAIN, 0)
  let s1 = v128.load(CHAIN, 16)
  let s2 = v128.load(CHAIN, 32)
  let s3 = v128.load(CHAIN, 48)
  let s4 = v128.load(CHAIN, 64)
  let s5 = v128.load(CHAIN, 80)
  let s6 = v128.load(CHAIN, 96)
  let s7 = v128.load(CHAIN, 112)
  let s8 = i32x4.splat(IV0)
  let s9 = i32x4.splat(IV1)
  let s10 = i32x4.splat(IV2)
  let s11 = i32x4.splat(IV3)
  let s12 = counters
  let s13 = i32x4.splat(0)
  let s14 = i32x4.splat(length)
  let s15 = i32x4.splat(flags)

  // ROUNDS: here build/kernel.js puts the seven rounds, on s0 to s15, made of what is below.

  v128.store(CHAIN, v128.xor(s0, s8), 0)
  v128.store(CHAIN, v128.xor(s1, s9), 16)
  v128.store(CHAIN, v128.xor(s2, s10), 32)
  v128.store(CHAIN, v128.xor(s3, s11), 48)
  v128.store(CHAIN, v128.xor(s4, s12), 64)
  v128.store(CHAIN, v128.xor(s5, s13), 80)
  v128.store(CHAIN, v128.xor(s6, s14), 96)
  v128.store(CHAIN, v128.xor(s7, s15), 112)
}

/** A word of the message. */
@inline
function word(index: usize): v128 {
  return v128.load(MESSAGE + 16 * index)
}

@inline
function add(a: v128, b: v128): v128 {
  return i32x4.add(a, b)
}

// Rotations of `a ^ b` to the right.

@inline
function turn16(a: v128, b: v128): v128 {
  const x = v128.xor(a, b)
  return v128.shuffle<i16>(x, x, 1, 0, 3, 2, 5, 4, 7, 6)
}

@inline
function turn12(a: v128, b: v128): v128 {
  const x = v128.xor(a, b)
  return v128.or(i32x4.shr_u(x, 12), i32x4.shl(x, 20))
}

@inline
function turn8(a: v128, b: v128): v128 {
  const order = i8x16(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12)
  return v128.swizzle(v128.xor(a, b), order)
}

@inline
function turn7(a: v128, b: v128): v128 {
  const x = v128.xor(a, b)
  return v128.or(i32x4.shr_u(x, 7), i32x4.shl(x, 25))
}
