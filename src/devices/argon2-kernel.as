/**
 * Argon2id of RFC 9106 (version 0x13, no secret, no associated data): AssemblyScript, for
 * WebAssembly with SIMD. Names are those of the RFC: lane, slice, segment, block, pass, G, P, H'.
 *
 * For a job the caller calls `reserve`, puts the password at `PASSWORD` and the salt right behind
 * it, and calls `derive`; the tag is at `TAG` then. An instance takes one job after the other. Its
 * memory grows to the largest of them: whoever wants it back drops the instance.
 *
 * The password and what leads to it without the costs are overwritten; the blocks are not.
 */

import { hash, HASH_STATE } from './blake2b'

const VERSION: u32 = 0x13
const ARGON2ID: u32 = 2
const SLICES: u32 = 4
const BLOCK_BYTES: u32 = 1024
/** Pseudo-random numbers in a block of addresses. */
const BLOCK_WORDS: u32 = BLOCK_BYTES / 8
const MAX_TAG_BYTES: u32 = 1024
const PAGE_BYTES: u32 = 0x10000

// Memory. Below lies what is constant, where the compiler puts it, and what BLAKE2b works with.
/** What H' makes the first blocks of: its length, H0, and two numbers. */
const SEED: usize = 0xa00
const SEED_BYTES: u32 = 76
/** What H' makes the tag of: its length, and the last blocks. */
const RESULT: usize = 0xb00
const COUNTERS: usize = 0x1000
const ADDRESSES: usize = 0x1400
/** Between the two halves of P. */
const SCRATCH: usize = 0x1800
const WORK_END: usize = 0x1c00
const ZEROS: usize = 0x1c00
export const TAG: usize = 0x2000
const BLOCKS: usize = 0x2400
/** What H0 is made of, where blocks will be: 7 numbers, password, length, salt, 2 lengths. */
const INPUT: usize = BLOCKS
export const PASSWORD: usize = INPUT + 28
const OTHER_INPUT_BYTES: u32 = 40

let passes: u32
let lanes: u32
let laneBlocks: u32
let segmentBlocks: u32

/** Makes room for a job, before it is written there; `memory.buffer` may be another one then. */
export function reserve(passwordBytes: u32, saltBytes: u32, memoryKib: u32): void {
  const bytes = max(memoryKib * BLOCK_BYTES, OTHER_INPUT_BYTES + passwordBytes + saltBytes)
  const missing = i32((BLOCKS + bytes + PAGE_BYTES - 1) / PAGE_BYTES) - memory.size()
  if (missing > 0 && memory.grow(missing) < 0) unreachable()
}

/** Traps for what no implementation takes: less than 8 KiB a lane, 8 bytes of salt, and so on. */
export function derive(
  passwordBytes: u32, saltBytes: u32, memoryKib: u32, passCount: u32, laneCount: u32, tagBytes: u32,
): void {
  if (passCount == 0 || laneCount == 0 || memoryKib / 8 < laneCount) unreachable()
  if (saltBytes < 8 || tagBytes < 4 || tagBytes > MAX_TAG_BYTES) unreachable()
  passes = passCount
  lanes = laneCount
  segmentBlocks = memoryKib / (SLICES * lanes)
  laneBlocks = SLICES * segmentBlocks

  hashInput(passwordBytes, saltBytes, memoryKib, tagBytes)
  for (let lane: u32 = 0; lane < lanes; lane++) startLane(lane)
  for (let pass: u32 = 0; pass < passes; pass++) {
    for (let slice: u32 = 0; slice < SLICES; slice++) {
      for (let lane: u32 = 0; lane < lanes; lane++) fillSegment(pass, slice, lane)
    }
  }
  memory.fill(RESULT, 0, 4 + BLOCK_BYTES)
  for (let lane: u32 = 0; lane < lanes; lane++) {
    xorBlock(RESULT + 4, blockAt(lane, laneBlocks - 1))
  }
  hashLong(RESULT, 4 + BLOCK_BYTES, TAG, tagBytes)
  memory.fill(HASH_STATE, 0, WORK_END - HASH_STATE)
}

/** H0, which is all that is needed of the input, to its place in the seed. */
function hashInput(passwordBytes: u32, saltBytes: u32, memoryKib: u32, tagBytes: u32): void {
  const salt = PASSWORD + passwordBytes
  const length = OTHER_INPUT_BYTES + passwordBytes + saltBytes
  memory.copy(salt + 4, salt, saltBytes)
  store<u32>(INPUT, lanes, 0)
  store<u32>(INPUT, tagBytes, 4)
  store<u32>(INPUT, memoryKib, 8)
  store<u32>(INPUT, passes, 12)
  store<u32>(INPUT, VERSION, 16)
  store<u32>(INPUT, ARGON2ID, 20)
  store<u32>(INPUT, passwordBytes, 24)
  store<u32>(salt, saltBytes)
  // Neither a secret nor associated data.
  store<u64>(salt + 4 + saltBytes, 0)
  hash(INPUT, length, SEED + 4, 64)
  memory.fill(INPUT, 0, length)
}

function startLane(lane: u32): void {
  store<u32>(SEED, lane, 72)
  for (let column: u32 = 0; column < 2; column++) {
    store<u32>(SEED, column, 68)
    hashLong(SEED, SEED_BYTES, blockAt(lane, column), BLOCK_BYTES)
  }
}

function blockAt(lane: u32, column: u32): usize {
  return BLOCKS + (lane * laneBlocks + column) * BLOCK_BYTES
}

/** In the first half of the first pass, which blocks are read does not depend on the password. */
function fillSegment(pass: u32, slice: u32, lane: u32): void {
  const isIndependent = pass == 0 && slice < SLICES / 2
  if (isIndependent) startAddresses(pass, slice, lane)
  const start = slice * segmentBlocks
  let previous = blockAt(lane, (start == 0 ? laneBlocks : start) - 1)
  let index: u32 = 0
  if (pass == 0 && slice == 0) {
    // The first two blocks of the lane are there.
    index = 2
    previous = blockAt(lane, 1)
    nextAddresses()
  }
  for (; index < segmentBlocks; index++) {
    const word = index % BLOCK_WORDS
    if (isIndependent && word == 0) nextAddresses()
    const random = isIndependent ? load<u64>(ADDRESSES + 8 * word) : load<u64>(previous)
    const current = blockAt(lane, start + index)
    compress(previous, chooseBlock(random, pass, slice, lane, index), current, pass > 0)
    previous = current
  }
}

/** The block that a pseudo-random number means: section 3.4.2. */
function chooseBlock(random: u64, pass: u32, slice: u32, lane: u32, index: u32): usize {
  const isFirst = pass == 0
  const chosen = isFirst && slice == 0 ? lane : u32(random >> 32) % lanes
  // What is ready: all slices but the current ones, and in the same lane what is before this block.
  let ready = isFirst ? slice * segmentBlocks : laneBlocks - segmentBlocks
  if (chosen == lane) ready += index - 1
  else if (index == 0) ready--
  const j = random & 0xffffffff
  const back = (u64(ready) * ((j * j) >> 32)) >> 32
  const oldest = isFirst ? 0 : ((slice + 1) % SLICES) * segmentBlocks
  return blockAt(chosen, (oldest + ready - 1 - u32(back)) % laneBlocks)
}

/** Section 3.4.1.2: numbers from counters, in the first half of the first pass. */
function startAddresses(pass: u32, slice: u32, lane: u32): void {
  memory.fill(COUNTERS, 0, BLOCK_BYTES)
  store<u64>(COUNTERS, pass, 0)
  store<u64>(COUNTERS, lane, 8)
  store<u64>(COUNTERS, slice, 16)
  store<u64>(COUNTERS, lanes * laneBlocks, 24)
  store<u64>(COUNTERS, passes, 32)
  store<u64>(COUNTERS, ARGON2ID, 40)
}

function nextAddresses(): void {
  store<u64>(COUNTERS, load<u64>(COUNTERS, 48) + 1, 48)
  compress(ZEROS, COUNTERS, ADDRESSES, false)
  compress(ZEROS, ADDRESSES, ADDRESSES, false)
}

/** G of two blocks; from the second pass on it is added to what `out` holds. */
function compress(x: usize, y: usize, out: usize, isAdded: bool): void {
  // All of `y` is asked for at once: it is seldom in a cache.
  for (let at: usize = 0; at < BLOCK_BYTES; at += 16) {
    v128.store(SCRATCH + at, v128.xor(v128.load(x + at), v128.load(y + at)))
  }
  if (isAdded) xorBlock(out, SCRATCH)
  else memory.copy(out, SCRATCH, BLOCK_BYTES)
  // Rows, then columns.
  for (let row: usize = 0; row < 8; row += 2) permute(SCRATCH + 128 * row, 128, 16)
  for (let column: usize = 0; column < 8; column += 2) permute(SCRATCH + 16 * column, 16, 128)
  xorBlock(out, SCRATCH)
}

function xorBlock(to: usize, from: usize): void {
  for (let at: usize = 0; at < BLOCK_BYTES; at += 16) {
    v128.store(to + at, v128.xor(v128.load(to + at), v128.load(from + at)))
  }
}

/**
 * P, on two times eight vectors `step` bytes apart; the second eight begin `other` bytes behind the
 * first. One alone would leave the processor waiting for each result.
 */
function permute(first: usize, other: usize, step: usize): void {
  const second = first + other
  // ROUNDS: here build/kernel.js puts the two rounds, which are made of what is below.
}

/** Two words of two rows: the second of `a` and the first of `b`. */
@inline
function join(a: v128, b: v128): v128 {
  return v128.shuffle<i64>(a, b, 1, 2)
}

/** `a + b + 2 * low(a) * low(b)`, where `low` is the lower half of a word. */
@inline
function mix(a: v128, b: v128): v128 {
  const product = i64x2.extmul_low_i32x4_u(low(a), low(b))
  return i64x2.add(i64x2.add(a, b), i64x2.add(product, product))
}

@inline
function low(a: v128): v128 {
  return v128.shuffle<i32>(a, a, 0, 2, 0, 2)
}

// Rotations of `a ^ b` to the right.

@inline
function turn32(a: v128, b: v128): v128 {
  const x = v128.xor(a, b)
  return v128.shuffle<i32>(x, x, 1, 0, 3, 2)
}

@inline
function turn24(a: v128, b: v128): v128 {
  const order = i8x16(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10)
  return v128.swizzle(v128.xor(a, b), order)
}

@inline
function turn16(a: v128, b: v128): v128 {
  const order = i8x16(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9)
  return v128.swizzle(v128.xor(a, b), order)
}

@inline
function turn63(a: v128, b: v128): v128 {
  const x = v128.xor(a, b)
  return v128.or(i64x2.add(x, x), i64x2.shr_u(x, 63))
}

/** H', of what has its length in front: section 3.3. */
function hashLong(input: usize, inputBytes: u32, out: usize, bytes: u32): void {
  store<u32>(input, bytes)
  if (bytes <= 64) return hash(input, inputBytes, out, bytes)
  hash(input, inputBytes, out, 64)
  // The first half of each counts, and all of the last.
  for (bytes -= 32; bytes > 64; bytes -= 32) {
    hash(out, 64, out + 32, 64)
    out += 32
  }
  hash(out, 64, out + 32, bytes)
}
