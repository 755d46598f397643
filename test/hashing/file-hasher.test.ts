import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { open, truncate, type FileHandle } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Digests } from '../../src/core/content-id.ts'
import { digestsOf, type FileHash, FileHasher } from '../../src/hashing/file-hasher.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { LOADER } from '../support/program.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import fc from '../support/property.ts'
import { execute } from '../support/execute.ts'
import { MIB } from '../../src/core/limits.ts'

const bytes = randomBytes(4 * MIB + 12_345)

async function makeFile(t: TestContext, content: Uint8Array): Promise<FileHandle> {
  const path = await temporaryFile(t, 'file', content)
  const file = await open(path, 'r+')
  t.after(() => file.close())
  return file
}

/** Longer than a worker waits for another file. */
const LONG_MS = 60_000

function makeHasher(t: TestContext, clock = new FakeClock()): FileHasher {
  const hasher = new FileHasher({ clock })
  t.after(() => hasher.close())
  return hasher
}

/** Adds what is in the file, and tells of it in steps. */
function addAll(hash: FileHash, content: Uint8Array, step: number): void {
  for (let position = 0; position < content.length; position += step) {
    hash.add(content.subarray(position, position + step))
    hash.reached(Math.min(position + step, content.length))
  }
}

/** Has all of a file hashed that holds `content`. */
async function hashAll(
  t: TestContext,
  hasher: FileHasher,
  content: Uint8Array,
  step = MIB,
): Promise<Digests> {
  const hash = hasher.start(await makeFile(t, content))
  addAll(hash, content, step)
  return hash.finish()
}

describe('FileHasher', () => {
  for (const size of [0, 1, MIB, MIB + 1, 2 * MIB, bytes.length]) {
    it(`hashes a file of ${size} bytes, with a worker unless it is small`, async (t) => {
      const content = bytes.subarray(0, size)
      const hasher = makeHasher(t)
      assert.deepEqual(await hashAll(t, hasher, content, 65_536), await digestsOf(content))
      assert.equal(hasher.isRunning, size > MIB)
    })
  }

  it('hashes bytes in memory, and gives long ones back that the worker had', async (t) => {
    for (const size of [0, MIB, MIB + 1, bytes.length]) {
      const hasher = makeHasher(t)
      const own = Uint8Array.from(bytes.subarray(0, size))
      const expected = { ...(await digestsOf(own)), bytes: Uint8Array.from(own) }
      const hashing = [hasher.digestsOf(own), hashAll(t, hasher, bytes)]
      assert.equal(own.length, size > MIB ? 0 : size)
      assert.deepEqual(await Promise.all(hashing), [expected, await digestsOf(bytes)])
      assert.equal(hasher.isRunning, true)
    }
  })

  it('fails for bytes in memory as well when the worker ends', async (t) => {
    const hasher = makeHasher(t)
    const hashing = hasher.digestsOf(Uint8Array.from(bytes))
    const closed = hasher.close()
    await assert.rejects(hashing, /Cannot hash: the worker ended/)
    await closed
  })

  it('gives the same digests, however the file grew', async (t) => {
    const hasher = makeHasher(t)
    const file = await makeFile(t, bytes)
    const expected = await digestsOf(bytes)
    const steps = fc.integer({ min: 100_000, max: 3 * MIB })
    await fc.assert(
      fc.asyncProperty(steps, async (step) => {
        const hash = hasher.start(file)
        addAll(hash, bytes, step)
        assert.deepEqual(await hash.finish(), expected)
      }),
      { numRuns: 20 },
    )
  })

  it('hashes many files at once', async (t) => {
    const hasher = makeHasher(t)
    const contents = Array.from({ length: 8 }, (_, i) => bytes.subarray(0, 1_500_000 + i * 1000))
    const hashes = await Promise.all(
      contents.map((content) => hashAll(t, hasher, content, 300_000)),
    )
    assert.deepEqual(hashes, await Promise.all(contents.map(digestsOf)))
  })

  it('ends the worker when nobody needs it, and starts another', async (t) => {
    const clock = new FakeClock()
    const hasher = makeHasher(t, clock)
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await hashAll(t, hasher, bytes), await digestsOf(bytes))
      assert.equal(hasher.isRunning, true)
      clock.advance(LONG_MS)
      assert.equal(hasher.isRunning, false)
    }
  })

  it('keeps the worker while a file is being hashed, however idle', async (t) => {
    const clock = new FakeClock()
    const hasher = makeHasher(t, clock)
    const slow = hasher.start(await makeFile(t, bytes))
    addAll(slow, bytes.subarray(0, 2 * MIB), MIB)
    await hashAll(t, hasher, bytes)
    clock.advance(LONG_MS)
    assert.equal(hasher.isRunning, true)
    addAll(slow, bytes.subarray(2 * MIB), MIB)
    assert.deepEqual(await slow.finish(), await digestsOf(bytes))
  })

  it('gives a file up, and lets go of it', async (t) => {
    const clock = new FakeClock()
    const hasher = makeHasher(t, clock)
    const small = hasher.start(await makeFile(t, bytes))
    const large = hasher.start(await makeFile(t, bytes))
    addAll(small, bytes.subarray(0, 1000), 1000)
    await small.abort()
    addAll(large, bytes, MIB)
    await large.abort()
    clock.advance(LONG_MS)
    assert.equal(hasher.isRunning, false)
  })

  it('fails when the worker ends, and works again after that', async (t) => {
    const hasher = makeHasher(t)
    const file = await makeFile(t, bytes)
    const hash = hasher.start(file)
    addAll(hash, bytes, MIB)
    const given = hasher.start(file)
    addAll(given, bytes, MIB)
    // It ends before it reads what it is told from here on, however fast it is.
    const closed = hasher.close()
    await assert.rejects(hash.finish(), /Cannot hash: the worker ended/)
    await closed
    // What is told to a worker that has ended is lost, and known to be.
    await given.abort()
    assert.equal(hasher.isRunning, false)
    assert.deepEqual(await hashAll(t, hasher, bytes), await digestsOf(bytes))
  })

  it('has its worker in common with other hashers of the program, until the last is closed', async (t) => {
    const clock = new FakeClock()
    const [hasher, other] = [makeHasher(t, clock), makeHasher(t, clock)]
    const hash = hasher.start(await makeFile(t, bytes))
    addAll(hash, bytes, MIB)
    assert.equal(other.isRunning, true)
    await other.close()
    assert.deepEqual(await hash.finish(), await digestsOf(bytes))
    assert.equal(hasher.isRunning, true)
    await hasher.close()
    assert.deepEqual([hasher.isRunning, clock.pending], [false, 0])
  })

  it('has one worker for files of the user that come one after the other', async (t) => {
    let started = 0
    const onWorker = (): number => (started += 1)
    process.on('worker', onWorker)
    t.after(() => process.off('worker', onWorker))
    const hasher = makeHasher(t)
    const startTheirs = async () => hasher.start(await makeFile(t, bytes), (look) => look())
    for (let round = 0; round < 3; round++) {
      const hash = await startTheirs()
      addAll(hash, bytes, MIB)
      assert.deepEqual(await hash.finish(), await digestsOf(bytes))
    }
    assert.equal(started, 1)
    const [slow, other] = [await startTheirs(), await startTheirs()]
    for (const hash of [slow, other]) addAll(hash, bytes, MIB)
    assert.deepEqual(await other.finish(), await digestsOf(bytes))
    assert.deepEqual(await slow.finish(), await digestsOf(bytes))
    assert.equal(started, 2)
  })

  it('fails for a file that becomes shorter, and for that one only', async (t) => {
    const hasher = makeHasher(t)
    const hashFile = async (content: Uint8Array, kept: number): Promise<Digests> => {
      const file = await makeFile(t, content)
      await file.truncate(kept)
      const hash = hasher.start(file)
      addAll(hash, content, MIB)
      return hash.finish()
    }
    const whole = hashAll(t, hasher, bytes)
    await assert.rejects(hashFile(bytes, 2 * MIB), /shorter/)
    await assert.rejects(hashFile(bytes.subarray(0, 100), 10), /shorter/)
    assert.deepEqual(await whole, await digestsOf(bytes))
  })

  it('does not keep a program alive that has nothing else to do', async (t) => {
    const path = await temporaryFile(t, 'file', '')
    await truncate(path, 2 * MIB)
    const program = fileURLToPath(new URL('./support/hash-file.ts', import.meta.url))
    const args = [...LOADER, program, path]
    const { stdout } = await execute(process.execPath, args, { timeout: 20_000 })
    assert.equal(stdout, `${(await digestsOf(Buffer.alloc(2 * MIB))).blake3}\n`)
  })
})
