import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BLAKE3_KERNEL, compileKernel } from '../../build/kernel.js'
import { Blake3Thread } from '../../src/hashing/blake3-thread.ts'
import { digestsOf } from '../../src/hashing/file-hasher.ts'
import { LOADER } from '../support/program.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { needs } from '../support/requirements.ts'
import { execute } from '../support/execute.ts'

const KIB = 1024
const KERNEL = new URL('../../src/hashing/blake3-kernel.wasm', import.meta.url)
const VECTORS = new URL('../../fixtures/blake3/vectors.json', import.meta.url)
const WITHOUT_SIMD = ['--no-enable-sse4-1']

const bytes = randomBytes(700_001)

/** As in the official test vectors. */
const pattern = Uint8Array.from({ length: 102_400 }, (_, index) => index % 251)

let folder = ''
let path = ''
let file: FileHandle
let thread: Blake3Thread

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clipgate-kernel-'))
  path = join(folder, 'bytes')
  await writeFile(path, bytes)
  file = await open(path)
  thread = new Blake3Thread(() => undefined)
})

after(async () => {
  await thread.close()
  await file.close()
  await rm(folder, { recursive: true })
})

/** Whether a Node with these options can use the kernel. */
function hasSimd(...options: readonly string[]): boolean {
  const script = `process.exit(WebAssembly.validate(require('fs').readFileSync(process.argv[1])) ? 0 : 9)`
  try {
    execFileSync(process.execPath, [...options, '-e', script, fileURLToPath(KERNEL)])
    return true
  } catch (error) {
    assert.equal(error instanceof Error && 'status' in error && error.status, 9)
    return false
  }
}

describe('blake3-kernel.wasm', () => {
  it('is what its source is compiled to', async () => {
    const compiled = join(folder, 'compiled.wasm')
    await compileKernel(BLAKE3_KERNEL, compiled)
    const isKept = (await readFile(compiled)).equals(await readFile(KERNEL))
    assert.equal(isKept, true, 'run "make kernel", and commit what it writes')
  })

  it('is what hashes, where these tests run', () => assert.equal(hasSimd(), true))

  it('gives the hashes of the official test vectors', async () => {
    const vectors: Readonly<Record<string, string>> = JSON.parse(await readFile(VECTORS, 'utf8'))
    const place = join(folder, 'pattern')
    await writeFile(place, pattern)
    const opened = await open(place)
    const hashes = Object.keys(vectors).map(async (size) => {
      return [size, await thread.start(opened.fd).digest(Number(size))]
    })
    assert.deepEqual(Object.fromEntries(await Promise.all(hashes)), vectors)
    assert.equal(hashes.length, 35)
    await opened.close()
  })

  it('agrees with hash-wasm, whatever the size and however the file grows', async () => {
    // The ends of chunks and batches, and what is beside them.
    const edges = fc
      .tuple(fc.integer({ min: 0, max: 683 }), fc.integer({ min: -1, max: 1 }))
      .map(([chunks, off]) => Math.max(0, chunks * KIB + off))
    const sizes = fc.oneof(edges, fc.integer({ min: 0, max: bytes.length }))
    await forAllAsync(sizes, fc.array(sizes), async (size, steps) => {
      const job = thread.start(file.fd)
      for (const step of steps.filter((each) => each <= size).sort((a, b) => a - b)) {
        job.advance(step)
      }
      assert.equal(await job.digest(size), (await digestsOf(bytes.subarray(0, size))).blake3)
    })
  })

  it('keeps files apart that are hashed in turns', async () => {
    const sizes = [699_999, 64 * KIB, 400_000, 512 * KIB, 1]
    const jobs = sizes.map((size) => ({ size, job: thread.start(file.fd) }))
    for (let end = 0; end <= bytes.length; end += 100 * KIB) {
      for (const { size, job } of jobs) job.advance(Math.min(size, end))
    }
    for (const { size, job } of jobs) {
      assert.equal(await job.digest(size), (await digestsOf(bytes.subarray(0, size))).blake3)
    }
  })

  it('agrees with b3sum', needs('b3sum'), async () => {
    const { stdout } = await execute('b3sum', ['--no-names', path])
    assert.equal(await thread.start(file.fd).digest(bytes.length), stdout.trim())
  })

  it('is not needed: without SIMD the hash is the same', async (t) => {
    // Only processors of Intel's kind can be told to be old.
    if (hasSimd(...WITHOUT_SIMD)) return t.skip('this Node has SIMD in any case')
    const program = fileURLToPath(new URL('./support/hash-file.ts', import.meta.url))
    const large = join(folder, 'large')
    // More than one batch of the other way.
    const content = Buffer.concat([bytes, bytes, bytes])
    await writeFile(large, content)
    const options = [...WITHOUT_SIMD, ...LOADER, program, large]
    const { stdout } = await execute(process.execPath, options)
    assert.equal(stdout, `${(await digestsOf(content)).blake3}\n`)
  })
})
