/**
 * BLAKE2b of RFC 7693, without a key, in one go: a part of `argon2-kernel.as`, which needs it only
 * for the first blocks and the last.
 */

// Memory.
export const HASH_STATE: usize = 0x800
/** The 8 words that go from block to block. */
const CHAIN: usize = HASH_STATE
/** The 16 words that are mixed. */
const STATE: usize = HASH_STATE + 64
/** The last block, filled up. */
const LAST: usize = HASH_STATE + 192

const BLOCK_BYTES: u32 = 128
const ROUNDS: u32 = 12

/** For each round the order of the words: sixteen numbers, the first in the lowest bits. */
const SIGMA: usize = memory.data<u64>([
  0xfedcba9876543210, 0x357b20c16df984ae, 0x491763eadf250c8b, 0x8f04a562ebcd1397,
  0xd386cb1efa427509, 0x91ef57d438b0a6c2, 0xb8293670a4def15c, 0xa2684f05931ce7bd,
  0x5a417d2c803b9ef6, 0x0dc3e9bf5167482a,
])
const IV: usize = memory.data<u64>([
  0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
])

/** Hashes to at most 64 bytes. `out` may be where the input is. */
export function hash(input: usize, inputBytes: u32, out: usize, bytes: u32): void {
  memory.copy(CHAIN, IV, 64)
  store<u64>(CHAIN, load<u64>(CHAIN) ^ 0x01010000 ^ bytes)
  let done: u32 = 0
  while (inputBytes - done > BLOCK_BYTES) {
    hashBlock(input + done, done + BLOCK_BYTES, false)
    done += BLOCK_BYTES
  }
  memory.fill(LAST, 0, BLOCK_BYTES)
  memory.copy(LAST, input + done, inputBytes - done)
  hashBlock(LAST, inputBytes, true)
  memory.copy(out, CHAIN, bytes)
}

function hashBlock(block: usize, bytesSoFar: u32, isLast: bool): void {
  memory.copy(STATE, CHAIN, 64)
  memory.copy(STATE + 64, IV, 64)
  store<u64>(STATE, load<u64>(STATE, 96) ^ bytesSoFar, 96)
  if (isLast) store<u64>(STATE, ~load<u64>(STATE, 112), 112)
  for (let round: u32 = 0; round < ROUNDS; round++) {
    let order = load<u64>(SIGMA + 8 * (round % 10))
    for (let step: u32 = 0; step < 8; step++) {
      const x = load<u64>(block + 8 * usize(order & 15))
      const y = load<u64>(block + 8 * usize((order >> 4) & 15))
      order >>= 8
      // Columns, then diagonals.
      mixWords(step, step < 4 ? 0 : 1, x, y)
    }
  }
  for (let at: usize = 0; at < 64; at += 8) {
    const mixed = load<u64>(STATE + at) ^ load<u64>(STATE + at, 64)
    store<u64>(CHAIN + at, load<u64>(CHAIN + at) ^ mixed)
  }
}

/** G of BLAKE2b: on column `step % 4`, each word `shift` columns behind the one above. */
function mixWords(step: u32, shift: u32, x: u64, y: u64): void {
  const atA = STATE + 8 * (step % 4)
  const atB = STATE + 32 + 8 * ((step + shift) % 4)
  const atC = STATE + 64 + 8 * ((step + 2 * shift) % 4)
  const atD = STATE + 96 + 8 * ((step + 3 * shift) % 4)
  let a = load<u64>(atA)
  let b = load<u64>(atB)
  let c = load<u64>(atC)
  let d = load<u64>(atD)
  a += b + x
  d = rotr(d ^ a, 32)
  c += d
  b = rotr(b ^ c, 24)
  a += b + y
  d = rotr(d ^ a, 16)
  c += d
  b = rotr(b ^ c, 63)
  store<u64>(atA, a)
  store<u64>(atB, b)
  store<u64>(atC, c)
  store<u64>(atD, d)
}
