import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { handOver } from '../../src/lib/read-bytes.ts'
import { Semaphore } from '../../src/lib/semaphore.ts'
import {
  BlobWriter,
  type BlobWriterOptions,
  type WriterPool,
} from '../../src/storage/blobs/blob-writer.ts'

const BATCH = 512 * 1024

interface Write {
  readonly length: number
  readonly position: number
  /** Lets it end after this number of bytes. */
  end(bytes?: number): void
}

/** A file whose writes end when the test says so. */
class SlowFile {
  readonly writes: Write[] = []
  syncs = 0

  writev(chunks: readonly Uint8Array[], position: number): Promise<{ bytesWritten: number }> {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    return new Promise((resolve) => {
      const end = (bytesWritten = length): void => resolve({ bytesWritten })
      this.writes.push({ length, position, end })
    })
  }

  async datasync(): Promise<void> {
    this.syncs++
  }
}

function makePool(writes: number): WriterPool {
  return { held: 0, gathering: new Set(), isSyncing: false, writes: new Semaphore(writes) }
}

function open(shared?: WriterPool, more: Partial<BlobWriterOptions> = {}) {
  const file = new SlowFile()
  const reached: number[] = []
  const hash: BlobWriterOptions['hash'] = {
    add: () => undefined,
    reached: (end) => void reached.push(end),
    finish: async () => ({ sha256: '', blake3: '' }),
    abort: async () => undefined,
  }
  const pool = shared ?? makePool(2)
  let written = 0
  const onWritten = (bytes: number): void => {
    written += bytes
  }
  const writer = new BlobWriter({ file, hash, pool, onWritten, ...more })
  return { file, reached, pool, writer, written: () => written }
}

describe('BlobWriter', () => {
  it('has hashed only what is in the file, in whatever order the writes end', async () => {
    const { file, reached, writer, written } = open()
    const pauses = [1, 2].map(() => writer.add(Buffer.alloc(BATCH)))
    assert.equal(file.writes.map(({ position }) => position).join(), `0,${BATCH}`)
    file.writes[1]?.end()
    await pauses[1]
    assert.deepEqual([reached, written()], [[], BATCH])
    file.writes[0]?.end()
    await setImmediate()
    assert.deepEqual([reached, written()], [[BATCH, 2 * BATCH], 2 * BATCH])
    await writer.finish()
  })

  it('writes the rest of what a full disk took only in part', async () => {
    const { file, reached, writer } = open()
    for (const length of [10, 20, 30]) void writer.add(Buffer.alloc(length))
    const finished = writer.finish()
    file.writes[0]?.end(15)
    await setImmediate()
    assert.deepEqual(reached, [])
    file.writes[1]?.end(15)
    await setImmediate()
    const rests = file.writes.map(({ position, length }) => `${length} at ${position}`)
    assert.deepEqual(rests, ['60 at 0', '45 at 15', '30 at 30'])
    file.writes[2]?.end()
    await finished
    assert.deepEqual(reached, [60])
  })

  it('gives back what was handed over once it is in the file, and nothing else', async () => {
    const { file, writer } = open()
    const [kept, given] = [Buffer.alloc(BATCH), Buffer.alloc(BATCH)]
    handOver(given)
    const pauses = [kept, given].map((chunk) => writer.add(chunk))
    file.writes[1]?.end(BATCH - 1)
    await setImmediate()
    assert.equal(given.length, BATCH)
    for (const { end } of [file.writes[0], file.writes[2]].flatMap((write) => write ?? [])) end()
    await Promise.all(pauses)
    await writer.finish()
    assert.deepEqual([kept.length, given.length], [BATCH, 0])
  })

  it('holds no more than two batches, and nothing at the end', async () => {
    const { file, pool, writer } = open()
    assert.equal(writer.add(Buffer.alloc(BATCH - 1)), undefined)
    const first = writer.add(Buffer.alloc(1))
    await first
    const second = writer.add(Buffer.alloc(BATCH))
    let isGoingOn = false
    void second?.then(() => {
      isGoingOn = true
    })
    await setImmediate()
    assert.deepEqual([isGoingOn, pool.held], [false, 2 * BATCH])
    file.writes[0]?.end()
    await second
    void writer.add(Buffer.alloc(5))
    const aborted = writer.abort()
    file.writes[1]?.end()
    await aborted
    assert.equal(pool.held, 0)
  })

  it('that is serial writes nothing before what comes before it, whoever asks it to', async () => {
    const { file, reached, writer } = open(undefined, { isSerial: true, start: 100 })
    const first = writer.add(Buffer.alloc(BATCH))
    void writer.add(Buffer.alloc(7))
    // Another upload needs the memory.
    writer.writeOut()
    await setImmediate()
    assert.deepEqual(
      file.writes.map(({ position }) => position),
      [100],
    )
    assert.deepEqual([writer.size, writer.written], [100 + BATCH + 7, 100])
    file.writes[0]?.end()
    await setImmediate()
    assert.deepEqual(
      file.writes.map(({ position }) => position),
      [100, 100 + BATCH],
    )
    assert.equal(writer.written, 100 + BATCH)
    file.writes[1]?.end()
    await Promise.all([first, writer.settle()])
    assert.deepEqual(reached, [100 + BATCH, 100 + BATCH + 7])
  })

  it('that is serial writes nothing behind what failed', async () => {
    const { file, writer } = open(undefined, { isSerial: true })
    let calls = 0
    file.writev = async () => {
      calls += 1
      throw new Error('EIO')
    }
    void writer.add(Buffer.alloc(10))
    writer.writeOut()
    void writer.add(Buffer.alloc(10))
    writer.writeOut()
    await assert.rejects(writer.settle(), { message: 'EIO' })
    assert.deepEqual([calls, writer.written], [1, 0])
  })

  it('writes what slow senders have sent, so that it does not count against others for ever', () => {
    const pool = makePool(100)
    const slow = Array.from({ length: 5 }, () => open(pool))
    for (const { writer } of slow) writer.add(Buffer.alloc(BATCH - 1))
    const { file, writer } = open(pool)
    for (let count = 0; count < slow.length; count++) void writer.add(Buffer.alloc(1))
    for (const other of slow) assert.equal(other.file.writes[0]?.length, BATCH - 1)
    assert.equal(file.writes.length > 0, true)
  })

  it('has the disk begin early, for one upload at a time', async () => {
    const { file, pool, writer } = open()
    const MIB = 1024 * 1024
    for (let i = 0; i < 40; i++) {
      pool.isSyncing = i < 35
      const pause = writer.add(Buffer.alloc(MIB))
      file.writes.at(-1)?.end()
      await pause
      await setImmediate()
      assert.equal(file.syncs, i < 35 ? 0 : 1, String(i))
    }
    await writer.finish()
  })
})
