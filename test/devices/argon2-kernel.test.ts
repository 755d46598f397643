import assert from 'node:assert/strict'
import * as crypto from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { argon2id } from 'hash-wasm'
import { ARGON2_KERNEL, compileKernel } from '../../build/kernel.js'
import { Argon2Pool } from '../../src/devices/argon2-pool.ts'
import type { Argon2Job } from '../../src/devices/phc-string.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { LOADER } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { deriveWith, KERNEL, openKernel } from './support/argon2-kernel.ts'
import { execute } from '../support/execute.ts'

const WITHOUT_SIMD = ['--no-enable-sse4-1']

const JOB: Argon2Job = {
  password: toBytes('password'),
  salt: toBytes('somesalt'),
  memoryKib: 256,
  passes: 2,
  parallelism: 2,
  tagLength: 32,
}

const LARGE = { memoryKib: 65_536, parallelism: 1 }

/** Those for Argon2id, version 0x13, in `test.c` of the reference implementation. */
const VECTORS: readonly (readonly [tag: string, job: Partial<Argon2Job>])[] = [
  ['09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7', LARGE],
  [
    '78fe1ec91fb3aa5657d72e710854e4c3d9b9198c742f9616c2f085bed95b2e8c',
    { memoryKib: 262_144, parallelism: 1 },
  ],
  [
    '9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe',
    { memoryKib: 256, parallelism: 1 },
  ],
  [
    '6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037',
    { memoryKib: 256, parallelism: 2 },
  ],
  ['f6a5adc1ba723dddef9b5ac1d464e180fcd9dffc9d1cbf76cca2fed795d9ca98', { ...LARGE, passes: 1 }],
  ['9025d48e68ef7395cca9079da4c4ec3affb3c8911fe4f86d1a2520856f63172c', { ...LARGE, passes: 4 }],
  [
    '0b84d652cf6b0c4beaef0dfe278ba6a80df6696281d7e0d2891b817d8c458fde',
    { ...LARGE, password: toBytes('differentpassword') },
  ],
  [
    'bdf32b05ccc42eb15d58fd19b1f856b113da1e9a5874fdcc544308565aa8141c',
    { ...LARGE, salt: toBytes('diffsalt') },
  ],
]

/** Anything that is not too slow, also memory that four times the lanes do not divide. */
const jobs: fc.Arbitrary<Argon2Job> = fc
  .integer({ min: 1, max: 16 })
  .chain((parallelism) =>
    fc.record({
      password: fc.uint8Array({ minLength: 1, maxLength: 400 }),
      salt: fc.uint8Array({ minLength: 8, maxLength: 64 }),
      memoryKib: fc.integer({ min: 0, max: 700 }).map((more) => 8 * parallelism + more),
      passes: fc.integer({ min: 1, max: 4 }),
      parallelism: fc.constant(parallelism),
      tagLength: fc.oneof(fc.integer({ min: 4, max: 130 }), fc.integer({ min: 4, max: 1024 })),
    }),
  )

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** What another implementation makes of it. */
function derivePackage(job: Argon2Job): Promise<string> {
  return argon2id({
    password: job.password,
    salt: job.salt,
    iterations: job.passes,
    parallelism: job.parallelism,
    memorySize: job.memoryKib,
    hashLength: job.tagLength,
    outputType: 'hex',
  })
}

function openPool(t: TestContext): Argon2Pool {
  const pool = new Argon2Pool({ clock: new FakeClock() })
  t.after(() => pool.close())
  return pool
}

describe('argon2-kernel.wasm', () => {
  it('is what its source is compiled to', async (t) => {
    const folder = await temporaryFolder(t)
    const compiled = join(folder, 'compiled.wasm')
    await compileKernel(ARGON2_KERNEL, compiled)
    const isKept = (await readFile(compiled)).equals(await readFile(KERNEL))
    assert.equal(isKept, true, 'run "make kernel", and commit what it writes')
  })

  it('gives the tags of the reference implementation', () => {
    for (const [tag, rest] of VECTORS) {
      assert.equal(toHex(deriveWith(openKernel(), { ...JOB, ...rest })), tag)
    }
  })

  it('agrees with hash-wasm, one job after the other, larger and smaller ones', async () => {
    const kernel = openKernel()
    await forAllAsync(jobs, async (job) => {
      assert.equal(toHex(deriveWith(kernel, job)), await derivePackage(job))
    })
  })

  it('takes passwords that are longer than its memory, and none at all', async () => {
    const kernel = openKernel()
    const long = { ...JOB, password: crypto.randomBytes(100_000), memoryKib: 16 }
    assert.equal(toHex(deriveWith(kernel, long)), await derivePackage(long))
    const none = deriveWith(kernel, { ...JOB, password: new Uint8Array() })
    // By `@node-rs/argon2`: hash-wasm refuses it.
    assert.equal(toHex(none), '80a80c04a085f7effbcc26894266fec8213333c197c3fdf5802df9b6be3ed9b7')
  })

  it('has neither the password nor the salt in its memory afterwards', () => {
    const kernel = openKernel()
    // Longer than what the blocks overwrite.
    const [password, salt] = [crypto.randomBytes(20_000), crypto.randomBytes(64)]
    deriveWith(kernel, { ...JOB, memoryKib: 8, parallelism: 1, password, salt })
    const memory = Buffer.from(kernel.memory.buffer)
    for (const secret of [password, salt]) {
      for (let at = 0; at < secret.length; at += 16) {
        assert.equal(memory.indexOf(secret.subarray(at, at + 16)), -1, `bytes from ${at}`)
      }
    }
  })

  it('takes no more memory than the job has, and what is beside it', () => {
    const kernel = openKernel()
    deriveWith(kernel, { ...JOB, memoryKib: 4096 })
    assert.equal(kernel.memory.buffer.byteLength, 4 * 1024 ** 2 + 65_536)
  })

  it('traps for what no implementation takes', () => {
    const wrong: readonly Partial<Argon2Job>[] = [
      { salt: toBytes('sevenby') },
      { memoryKib: 15 },
      { passes: 0 },
      { parallelism: 0 },
      { tagLength: 3 },
      { tagLength: 1025 },
    ]
    for (const part of wrong) {
      assert.throws(() => deriveWith(openKernel(), { ...JOB, ...part }), { name: 'RuntimeError' })
    }
  })
})

describe('argon2-worker.js', () => {
  it('agrees with hash-wasm, whatever job came before', async (t) => {
    const pool = openPool(t)
    for (const memoryKib of [256, 4096, 64, 4096, 4096, 256]) {
      const job = { ...JOB, memoryKib, password: crypto.randomBytes(20) }
      assert.equal(toHex(await pool.derive(job, 'urgent')), await derivePackage(job))
    }
  })

  it('takes the kernel, where Node has no Argon2', async (t) => {
    if ('argon2Sync' in crypto) return t.skip('this Node has Argon2')
    // hash-wasm refuses it.
    const tag = await openPool(t).derive({ ...JOB, password: new Uint8Array() }, 'urgent')
    assert.equal(tag.length, 32)
  })

  it('does without it: without SIMD the tag is the same', async (t) => {
    if ('argon2Sync' in crypto) return t.skip('this Node has Argon2')
    const program = fileURLToPath(new URL('./support/derive-tag.ts', import.meta.url))
    const derive = async (password: string) => {
      const options = [...WITHOUT_SIMD, ...LOADER, program, password]
      return (await execute(process.execPath, options)).stdout.trim()
    }
    // Only processors of Intel's kind can be told to be old; hash-wasm refuses an empty password.
    if (await derive('').catch(() => undefined)) return t.skip('this Node has SIMD in any case')
    const job = { ...JOB, salt: toBytes('sixteen-byte-sal') }
    assert.equal(await derive('password'), await derivePackage(job))
  })
})
