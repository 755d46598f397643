import assert from 'node:assert/strict'
import {
  mkdir,
  readFile,
  rename,
  rmdir,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { DeviceRegistry } from '../../src/ports/device-registry.ts'
import type { StagedUpload } from '../../src/ports/staging-area.ts'
import type { StorageLimits } from '../../src/storage/open-storage.ts'
import { readBoot } from '../../src/storage/home/process-identity.ts'
import { STAGING_RECORD } from '../../src/storage/uploads/upload-records.ts'
import { OWNER_ID } from '../../src/core/owner.ts'
import { readText, streamOf } from '../support/byte-streams.ts'
import { defer } from '../support/defer.ts'
import { sha256 } from '../support/hashes.ts'
import { fileItem, textItem } from '../support/latest-item-contract.ts'
import { openTestDevices } from '../support/test-devices.ts'
import { header, stageUpload } from '../support/staging-contract.ts'
import { bytesOf, openTestStorage, pathOfBlob, type OpenedStorage } from './support/open-stores.ts'
import { MIB } from '../../src/core/limits.ts'

const HOUR = 3_600_000
function stage(
  { staging }: OpenedStorage,
  dataName: string,
  text: string,
  deviceId = 'did_a',
): Promise<StagedUpload> {
  return stageUpload(staging, header(dataName, { deviceId }), streamOf(text))
}

/** What a device gets under a name; given back at once. */
async function find(
  { staging }: OpenedStorage,
  dataName: string,
  deviceId = 'did_a',
): Promise<string | undefined> {
  const taken = staging.take(deviceId, dataName)
  if (taken === undefined) return undefined
  const text = await readText(taken.blob)
  taken.giveBack()
  return text
}

/** Path of the only record. */
async function recordOf({ folder, stagingFiles }: OpenedStorage): Promise<string> {
  const [name = ''] = await stagingFiles()
  return join(folder, 'staging', name)
}

interface Paths {
  readonly record: string
  readonly blob: string
}

/** Bytes behind which nothing comes. */
async function* stuckBehind(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
  await new Promise(() => {})
}

/** Pairs a device, which stages `hello` as `a`. @returns Its id. */
async function pairAndStage(devices: DeviceRegistry, { staging }: OpenedStorage): Promise<string> {
  const { device } = await devices.add({ kind: 'phone' })
  const source = header('a', { deviceId: device.id, passwordHash: device.passwordHash })
  await stageUpload(staging, source, streamOf('hello'))
  return device.id
}

/** Removals that nobody waits for have ended. */
async function settle(storage: OpenedStorage, uploads: number): Promise<void> {
  while ((await storage.blobFiles()).length > uploads) continue
  while ((await storage.stagingFiles()).length > uploads) continue
}

/** Stages an upload of a batch, called `image.jpg` as all are. */
async function stageMember(
  { staging }: OpenedStorage,
  [batch, number]: readonly [string, number],
  text: string,
): Promise<void> {
  const source = header('image.jpg', {
    member: { batch: batch.repeat(16), number },
    declaredSize: text.length,
  })
  await staging.admit(source)
  await stageUpload(staging, source, streamOf(text))
}

/** What a batch has of these numbers; given back at once. */
async function findBatch(
  { staging }: OpenedStorage,
  batch: string,
  numbers: readonly number[],
): Promise<readonly string[] | undefined> {
  const taken = staging.takeBatch('did_a', batch.repeat(16), numbers)
  const texts = taken && (await Promise.all(taken.map(({ blob }) => readText(blob))))
  for (const upload of taken ?? []) upload.giveBack()
  return texts
}

describe('a batch on disk', () => {
  it('survives a restart', async (t) => {
    const storage = await openTestStorage(t)
    await stageMember(storage, ['ab', 1], 'one')
    await stageMember(storage, ['ab', 2], 'two')
    assert.deepEqual(await findBatch(await storage.restart(), 'ab', [1, 2]), ['one', 'two'])
  })

  it('is whole after a restart, also when the first of it waits for longer than an hour', async (t) => {
    const storage = await openTestStorage(t)
    await stageMember(storage, ['ab', 1], 'photo')
    await stageMember(storage, ['cd', 1], 'another')
    storage.clock.advance(HOUR / 2)
    await stageMember(storage, ['ab', 2], 'film')
    await storage.staging.begin({
      ...{ deviceId: 'did_a', dataName: 'longer film', declaredSize: undefined },
      member: { batch: 'ab'.repeat(16), number: 3 },
    })
    storage.clock.advance(HOUR / 2 - 1)
    const again = await storage.restart(async () => storage.clock.advance(1))
    assert.equal(await findBatch(again, 'cd', [1]), undefined)
    assert.deepEqual(await findBatch(again, 'ab', [1, 2]), ['photo', 'film'])
    again.clock.advance(HOUR - 1)
    assert.deepEqual(await findBatch(again, 'ab', [1, 2]), ['photo', 'film'])
    again.clock.advance(1)
    await settle(again, 0)
    assert.equal(again.clock.pending, 0)
  })

  // Protocol: a device may have four
  it('counts for itself: more uploads than names, and four batches of a device', async (t) => {
    const storage = await openTestStorage(t)
    await stage(storage, 'a.txt', 'hello')
    const numbers = Array.from({ length: 40 }, (_, index) => index + 1)
    for (const number of numbers) await stageMember(storage, ['00', number], String(number))
    for (const batch of ['11', '22', '33']) await stageMember(storage, [batch, 1], batch)
    assert.deepEqual(await findBatch(storage, '00', numbers), numbers.map(String))
    // The one to which nothing has come for longest goes, as a whole.
    await stageMember(storage, ['00', 500], 'the last')
    await stageMember(storage, ['44', 1], '44')
    assert.equal(await findBatch(storage, '11', [1]), undefined)
    assert.equal((await findBatch(storage, '00', [...numbers, 500]))?.length, 41)
    assert.equal(await find(storage, 'a.txt'), 'hello')
  })

  // Protocol: waits for as long as something of it is coming
  it('waits for as long as something of it is coming, and an hour more', async (t) => {
    const storage = await openTestStorage(t)
    await stageMember(storage, ['ab', 1], 'photo')
    await stageMember(storage, ['cd', 1], 'another')
    storage.clock.advance(HOUR / 2)
    const film = await storage.staging.begin({
      ...{ deviceId: 'did_a', dataName: 'film', declaredSize: undefined },
      member: { batch: 'ab'.repeat(16), number: 2 },
    })
    const held = await film.seize()
    storage.clock.advance(HOUR)
    assert.deepEqual(await findBatch(storage, 'ab', [1]), ['photo'])
    assert.equal(await findBatch(storage, 'cd', [1]), undefined)
    storage.clock.advance(HOUR)
    await held.append(streamOf('film'), () => {})
    const { stage } = await held.finish()
    await stage({ dataName: 'film', mediaType: 'video/mp4', member: film.source.member })
    held.release()
    storage.clock.advance(HOUR - 1)
    assert.deepEqual(await findBatch(storage, 'ab', [1, 2]), ['photo', 'film'])
    storage.clock.advance(1)
    assert.equal(await findBatch(storage, 'ab', [1]), undefined)
    await settle(storage, 0)
    assert.equal(storage.clock.pending, 0)
  })

  // Protocol: No upload of it gives way to another one of it
  it('never gives up one of its uploads for another one', async (t) => {
    const storage = await openTestStorage(t, { limits: { stagingQuotaBytes: 10 } })
    await stageMember(storage, ['cd', 1], '123')
    await stageMember(storage, ['ab', 1], '123456')
    await assert.rejects(stageMember(storage, ['ab', 2], '12345'), { code: 'NO_SPACE' })
    // What else the device has gives way, as ever.
    await stageMember(storage, ['ab', 3], '1234')
    assert.deepEqual(await findBatch(storage, 'ab', [1, 3]), ['123456', '1234'])
    assert.equal(await findBatch(storage, 'cd', [1]), undefined)
  })

  it('never gives up what has come of one of its uploads for another one', async (t) => {
    const storage = await openTestStorage(t, { limits: { stagingQuotaBytes: 10 } })
    const { staging } = storage
    const member = { batch: 'ab'.repeat(16), number: 1 }
    const film = await staging.begin(header('film', { member }))
    const held = await film.seize()
    await held.append(streamOf('123456'), () => {})
    held.release()
    await assert.rejects(stageMember(storage, ['ab', 2], '12345'), { code: 'NO_SPACE' })
    assert.equal(staging.find('did_a', film.token)?.offset, 6)
    // It does for anything else that the device sends.
    await stageMember(storage, ['cd', 1], '12345')
    assert.equal(staging.find('did_a', film.token), undefined)
  })

  // Protocol: except to one in its place
  it('gives up what has come of a file when its sender begins again with it', async (t) => {
    const storage = await openTestStorage(t, { limits: { stagingQuotaBytes: 10 } })
    const { staging } = storage
    const member = { batch: 'ab'.repeat(16), number: 1 }
    const film = await staging.begin(header('film', { member }))
    const held = await film.seize()
    await held.append(streamOf('123456'), () => {})
    held.release()
    await stageMember(storage, ['ab', 1], '12345')
    assert.equal(staging.find('did_a', film.token), undefined)
    // The answer to it may have been lost.
    await stageMember(storage, ['ab', 1], '1234567')
    assert.deepEqual(await findBatch(storage, 'ab', [1]), ['1234567'])
  })

  // Protocol: an upload that exceeds it is 413
  it('has no more bytes than one file may have', async (t) => {
    const storage = await openTestStorage(t, { limits: { maxFileBytes: 10 } })
    await stageMember(storage, ['ab', 1], '123456')
    await assert.rejects(stageMember(storage, ['ab', 2], '12345'), { code: 'UPLOAD_TOO_LARGE' })
    await stageMember(storage, ['ab', 1], '1234567890')
    assert.deepEqual(await findBatch(storage, 'ab', [1]), ['1234567890'])
  })
})

describe('what is staged on disk', () => {
  it('survives a restart', async (t) => {
    const storage = await openTestStorage(t)
    const photo = header('写真.png', { mediaType: 'image/png' })
    await stageUpload(storage.staging, photo, streamOf('hello'))
    await stage(storage, 'b.txt', '')
    const again = await storage.restart()
    assert.deepEqual(again.staging.stats(), { uploads: 2, bytes: 5 })
    const taken = again.staging.take('did_a', '写真.png')
    assert.equal(taken?.mediaType, 'image/png')
    assert.equal(taken && (await readText(taken.blob)), 'hello')
    assert.equal(await find(again, 'b.txt'), '')
  })

  // Protocol: it waits, also over a restart
  it('is kept from the same documents after a restart, and is otherwise what it was', async (t) => {
    const devices = await openTestDevices()
    const storage = await openTestStorage(t, { devices })
    const deviceId = await pairAndStage(devices, storage)
    const again = await storage.restart()
    const read = async () => STAGING_RECORD.parse(await readFile(await recordOf(again), 'utf8'))
    const before = await read()
    again.clock.advance(HOUR / 2)
    await again.staging.bind(deviceId, 'a')
    assert.deepEqual(await read(), { ...before, knownAs: '' })
    const { passwordHash } = devices.find(deviceId) ?? {}
    const told = header('b', { deviceId, passwordHash, knownAs: 'ab'.repeat(32) })
    await stageUpload(again.staging, told, streamOf('told'))
    const { staging } = await again.restart()
    const known = ['a', 'b'].map((name) => staging.staged(deviceId, name)?.knownAs)
    assert.deepEqual(known, ['', told.knownAs])
  })

  // Protocol: and the daemon runs on
  it('is older than what was current when it began, and than all after a restart', async (t) => {
    const storage = await openTestStorage(t)
    await stage(storage, 'a', 'before')
    await storage.latest.put(await textItem('current'), undefined)
    await stage(storage, 'b', 'after')
    const isBound = async ({ staging, latest }: typeof storage, name: string) => {
      await staging.bind('did_a', name, latest.current?.item)
      return staging.staged('did_a', name)?.knownAs === ''
    }
    assert.deepEqual([await isBound(storage, 'a'), await isBound(storage, 'b')], [true, false])
    assert.equal(await isBound(await storage.restart(), 'b'), true)
  })

  it('is bound while it comes, and under another name or in a question about all it is not', async (t) => {
    const { staging } = await openTestStorage(t)
    const rest = defer<void>()
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('hel')
      await rest.promise
      yield Buffer.from('lo')
    }
    const names = ['a', 'b']
    const coming = names.map((name) => stageUpload(staging, header(name), slowly()))
    await staging.bind('did_a', 'a')
    await staging.bind('did_a')
    rest.resolve()
    await Promise.all(coming)
    const known = names.map((name) => staging.staged('did_a', name)?.knownAs)
    assert.deepEqual(known, ['', undefined])
  })

  it('is kept from them until then where the disk does not take that, and the log says so', async (t) => {
    const storage = await openTestStorage(t)
    await stage(storage, 'a', 'hello')
    const record = await recordOf(storage)
    await rename(record, `${record}.gone`)
    await mkdir(record)
    await storage.staging.bind('did_a')
    assert.equal(storage.staging.staged('did_a', 'a')?.knownAs, '')
    assert.match(storage.logger.text, /Cannot amend the record/)
    const again = await storage.restart(async () => {
      await rmdir(record)
      await rename(`${record}.gone`, record)
    })
    assert.equal(await find(again, 'a'), 'hello')
  })

  it('is told whenever it is something else', async (t) => {
    const storage = await openTestStorage(t)
    const { staging } = storage
    const told: number[] = []
    const stop = staging.onChange(() => told.push(staging.stats().uploads))
    for (const name of ['a.bin', 'b.bin']) await stage(storage, name, 'x')
    await staging.take('did_a', 'a.bin')?.discard()
    storage.clock.advance(HOUR)
    stop()
    await stage(storage, 'c.bin', 'c')
    assert.deepEqual(told, [1, 2, 1, 0])
    await settle(storage, 1)
  })

  it('survives the crash of a program that had taken it', async (t) => {
    const storage = await openTestStorage(t)
    await stage(storage, 'a.txt', 'hello')
    storage.staging.take('did_a', 'a.txt')
    assert.equal(await find(await storage.restart(), 'a.txt'), 'hello')
  })

  it('is nothing after the crash of a program that had not named it yet', async (t) => {
    const storage = await openTestStorage(t)
    const source = { deviceId: 'did_a', declaredSize: undefined }
    await storage.staging.receive(source, streamOf('hello'))
    assert.equal((await storage.blobFiles()).length, 1)
    const again = await storage.restart()
    assert.deepEqual([await again.stagingFiles(), await again.blobFiles()], [[], []])
  })

  it('is the newer one of two, after a crash before the older was removed', async (t) => {
    const storage = await openTestStorage(t)
    await stage(storage, 'a.txt', 'older')
    const [older, text] = [await recordOf(storage), await readFile(await recordOf(storage))]
    const [blob, bytes] = [await pathOfBlob(storage), await readFile(await pathOfBlob(storage))]
    // The clock is set back meanwhile: that makes nothing older.
    storage.clock.jump(-1000)
    await stage(storage, 'a.txt', 'newer')
    const again = await storage.restart(async () => {
      await writeFile(older, text)
      await writeFile(blob, bytes)
    })
    assert.equal(await find(again, 'a.txt'), 'newer')
    assert.equal((await again.blobFiles()).length, 1)
    assert.equal((await again.stagingFiles()).length, 1)
  })

  it('is not staged any more once it became the item, also after a crash', async (t) => {
    const storage = await openTestStorage(t)
    const { blob } = await stage(storage, 'a.txt', 'hello')
    storage.staging.take('did_a', 'a.txt')
    await storage.latest.put(await fileItem('a.txt', blob), blob)
    const again = await storage.restart()
    assert.equal(await find(again, 'a.txt'), undefined)
    assert.deepEqual(await again.stagingFiles(), [])
    assert.equal(String(await bytesOf(again)), 'hello')
  })

  describe('expires', () => {
    it('after an hour, and takes no room then', async (t) => {
      const storage = await openTestStorage(t)
      await stage(storage, 'a.txt', 'hello')
      storage.clock.advance(HOUR / 2)
      await stage(storage, 'b.txt', 'world')
      storage.clock.advance(HOUR / 2 - 1)
      assert.equal(await find(storage, 'a.txt'), 'hello')
      storage.clock.advance(1)
      assert.equal(await find(storage, 'a.txt'), undefined)
      assert.equal(await find(storage, 'b.txt'), 'world')
      await settle(storage, 1)
      storage.clock.advance(HOUR / 2)
      assert.deepEqual(storage.staging.stats(), { uploads: 0, bytes: 0 })
      await settle(storage, 0)
    })

    it('with one timer, and with none while nothing is staged', async (t) => {
      const storage = await openTestStorage(t)
      const pending = [storage.clock.pending]
      for (const name of ['a.txt', 'b.txt']) await stage(storage, name, 'hello')
      pending.push(storage.clock.pending)
      storage.clock.advance(HOUR)
      pending.push(storage.clock.pending)
      await settle(storage, 0)
      await stage(storage, 'c.txt', 'hello')
      await storage.close()
      assert.deepEqual([...pending, storage.clock.pending], [0, 1, 0, 0])
    })

    it('not while somebody has it in hand', async (t) => {
      const storage = await openTestStorage(t)
      await stage(storage, 'a.txt', 'hello')
      const taken = storage.staging.take('did_a', 'a.txt')
      storage.clock.advance(2 * HOUR)
      assert.equal(taken && (await readText(taken.blob)), 'hello')
      taken?.giveBack()
      assert.equal(storage.staging.take('did_a', 'a.txt'), undefined)
      storage.clock.advance(0)
      await settle(storage, 0)
    })

    it('not because somebody set the clock', async (t) => {
      const storage = await openTestStorage(t)
      await stage(storage, 'a.txt', 'hello')
      storage.clock.jump(24 * HOUR)
      storage.clock.advance(HOUR - 1)
      assert.equal(await find(storage, 'a.txt'), 'hello')
      storage.clock.jump(-72 * HOUR)
      const again = await storage.restart()
      assert.equal(await find(again, 'a.txt'), 'hello')
      again.clock.advance(HOUR)
      assert.equal(await find(again, 'a.txt'), undefined)
    })

    it('also while no program runs', async (t) => {
      const storage = await openTestStorage(t)
      await stage(storage, 'a.txt', 'hello')
      storage.clock.advance(HOUR / 4)
      await stage(storage, 'b.txt', 'hello')
      const again = await storage.restart(async () => storage.clock.jump((HOUR * 3) / 4))
      assert.equal(await find(again, 'a.txt'), undefined)
      assert.equal(await find(again, 'b.txt'), 'hello')
      assert.equal((await again.blobFiles()).length, 1)
      again.clock.advance(HOUR / 4)
      assert.equal(await find(again, 'b.txt'), undefined)
    })

    it('after longer than timers can wait', async (t) => {
      const stagingTtlMs = 2 ** 33
      const storage = await openTestStorage(t, { limits: { stagingTtlMs } })
      await stage(storage, 'a.txt', 'hello')
      storage.clock.advance(stagingTtlMs - 1)
      assert.equal(await find(storage, 'a.txt'), 'hello')
      storage.clock.advance(1)
      assert.equal(await find(storage, 'a.txt'), undefined)
    })
  })

  describe('has its limits', () => {
    const limits = { stagingQuotaBytes: 10 }
    const UNNAMED = { deviceId: 'did_a', declaredSize: undefined }
    const NO_SPACE = { code: 'NO_SPACE' }

    /** Stages uploads one after the other, and looks which wait then; each is `device/name=text`. */
    async function leaves(
      t: TestContext,
      limits: Partial<StorageLimits>,
      staged: readonly string[],
      waiting: readonly string[],
    ): Promise<void> {
      const storage = await openTestStorage(t, { limits })
      for (const upload of staged) {
        const [device, name = '', text = ''] = upload.split(/[/=]/)
        await stage(storage, name, text, device)
      }
      for (const upload of waiting) {
        const [device, name = '', text] = upload.split(/[/=]/)
        assert.equal(await find(storage, name, device), text, upload)
      }
      assert.equal((await storage.blobFiles()).length, waiting.length)
    }

    // Protocol: 16 for each device
    it('of names: one more drops the oldest of that device', async (t) => {
      const staged = ['b/x=1', 'a/a=1', 'a/b=1', 'a/a=2', 'a/c=1']
      await leaves(t, { maxStagedPerDevice: 2 }, staged, ['b/x=1', 'a/a=2', 'a/c=1'])
    })

    it('of names: sixteen, unless said otherwise', async (t) => {
      const staged = Array.from({ length: 17 }, (_, index) => `a/${index}=1`)
      await leaves(t, {}, staged, staged.slice(1))
    })

    it('of bytes: the oldest of that device go first', async (t) => {
      await leaves(t, limits, ['a/a=1111', 'a/b=1111', 'a/c=1111'], ['a/b=1111', 'a/c=1111'])
    })

    // Protocol: devices give way that have more than the sender would have
    it('of bytes: who has more gives way to who would have less, its oldest upload first', async (t) => {
      const staged = ['a/a=111', 'a/b=111', 'a/c=111', 'b/d=1111']
      await leaves(t, limits, staged, staged.slice(1))
    })

    it('of bytes: an own upload goes when nobody has more', async (t) => {
      await leaves(t, limits, ['a/a=11111', 'b/b=111', 'b/c=1111'], ['a/a=11111', 'b/c=1111'])
    })

    it('of bytes: the upload of the same name goes last', async (t) => {
      const storage = await openTestStorage(t, { limits })
      await stage(storage, 'a', 'aaaa')
      await stage(storage, 'b', 'bbbb')
      const short = stageUpload(storage.staging, header('a', { declaredSize: 5 }), streamOf('a'))
      await assert.rejects(short, { code: 'UPLOAD_INCOMPLETE' })
      assert.equal(await find(storage, 'a'), 'aaaa')
      await stage(storage, 'a', 'aaaaaaaaa')
      assert.equal(await find(storage, 'a'), 'aaaaaaaaa')
      assert.deepEqual(storage.staging.stats(), { uploads: 1, bytes: 9 })
    })

    it('of bytes: nobody pays for another device, or for nothing, also after a restart', async (t) => {
      const first = await openTestStorage(t, { limits })
      await stage(first, 'a', 'aaaa')
      await stage(first, 'b', 'bbbb', 'did_b')
      for (const isLater of [false, true]) {
        const storage = isLater ? await first.restart() : first
        const device = { deviceId: 'did_a', declaredSize: 7 }
        await assert.rejects(storage.staging.admit(device), NO_SPACE)
        await assert.rejects(storage.staging.admit({ ...device, deviceId: 'did_c' }), NO_SPACE)
        await assert.rejects(stage(storage, 'c', 'ccccccc'), NO_SPACE)
        assert.equal(await find(storage, 'a'), 'aaaa')
        assert.equal(await find(storage, 'b', 'did_b'), 'bbbb')
        assert.equal((await storage.blobFiles()).length, 2)
        await storage.staging.admit({ ...device, declaredSize: 6 })
      }
    })

    it('of bytes: those of uploads under way count, and those that were taken', async (t) => {
      const storage = await openTestStorage(t, { limits })
      const [begun, end] = [defer<void>(), defer<void>()]
      async function* slow(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('aaaa')
        begun.resolve()
        await end.promise
      }
      const declared = header('a', { declaredSize: 4 })
      const underWay = stageUpload(storage.staging, declared, slow())
      await begun.promise
      await assert.rejects(stage(storage, 'b', 'bbbbbbb'), NO_SPACE)
      end.resolve()
      await underWay
      const taken = storage.staging.take('did_a', 'a')
      await assert.rejects(stage(storage, 'b', 'bbbbbbb'), NO_SPACE)
      await taken?.discard()
      await stage(storage, 'b', 'bbbbbbb')
    })

    it('of bytes: those that have no name yet count until they are ended', async (t) => {
      const storage = await openTestStorage(t, { limits })
      const { staging } = storage
      for (const end of ['release', 'discard'] as const) {
        const received = await staging.receive(UNNAMED, streamOf('aaaa'))
        assert.deepEqual(staging.stats(), { uploads: 0, bytes: 0 })
        await assert.rejects(stage(storage, 'b', 'bbbbbbb'), NO_SPACE)
        await received[end]()
      }
      await stage(storage, 'b', 'bbbbbb')
      const received = await staging.receive(UNNAMED, streamOf('aaaa'))
      await received.stage({ dataName: 'a', mediaType: 'text/plain' })
      assert.deepEqual(staging.stats(), { uploads: 2, bytes: 10 })
      for (const name of ['a', 'b']) await staging.take('did_a', name)?.discard()
      await stage(storage, 'c', 'cccccccccc')
    })

    it('of bytes: what was announced and does not come takes nothing from others', async (t) => {
      const storage = await openTestStorage(t, { limits: { stagingQuotaBytes: 64 * MIB } })
      const { promise, resolve } = defer<void>()
      async function* idle(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('a')
        await promise
      }
      const underWay = ['a', 'b'].map((name) => {
        return stageUpload(storage.staging, header(name, { declaredSize: 60 * MIB }), idle())
      })
      while ((await storage.blobFiles()).length < 2) continue
      const other = { deviceId: 'did_b', declaredSize: 60 * MIB }
      await storage.staging.admit(other)
      await stageUpload(storage.staging, header('c', other), streamOf(Buffer.alloc(60 * MIB)))
      const cutOff = underWay.map((upload) => assert.rejects(upload, { code: 'UPLOAD_INCOMPLETE' }))
      resolve()
      await Promise.all(cutOff)
      const tooLarge = { ...other, declaredSize: 65 * MIB }
      await assert.rejects(storage.staging.admit(tooLarge), NO_SPACE)
    })

    it('of bytes: an upload that stands still gives way as well, and leaves nothing', async (t) => {
      const storage = await openTestStorage(t, { limits })
      const upload = stageUpload(storage.staging, header('a'), stuckBehind('aaaaaaaa'))
      const refused = assert.rejects(upload, NO_SPACE)
      while ((await storage.blobFiles()).length === 0) continue
      await stage(storage, 'b', 'bbbb', 'did_b')
      await refused
      assert.equal((await storage.blobFiles()).length, 1)
      await stage(storage, 'c', 'cccccc')
    })

    for (const step of ['keep', 'stage', 'discard'] as const) {
      it(`of bytes: a whole upload without a name gives way, and fails to ${step} then`, async (t) => {
        const storage = await openTestStorage(t, { limits })
        const received = await storage.staging.receive(UNNAMED, streamOf('aaaaaaaa'))
        await storage.staging.admit({ deviceId: 'did_b', declaredSize: 4 })
        await stage(storage, 'b', 'bbbb', 'did_b')
        assert.equal((await storage.blobFiles()).length, 1)
        if (step === 'keep') assert.throws(() => received.keep(), NO_SPACE)
        if (step === 'stage') {
          const staged = received.stage({ dataName: 'a', mediaType: 'text/plain' })
          await assert.rejects(staged, NO_SPACE)
        } else {
          await received.discard()
        }
        assert.deepEqual(storage.staging.stats(), { uploads: 1, bytes: 4 })
        await stage(storage, 'c', 'cccccc')
        assert.equal(await find(storage, 'b', 'did_b'), 'bbbb')
      })
    }

    it('of bytes: an upload that is on its way to become the item gives way to nobody', async (t) => {
      const storage = await openTestStorage(t, { limits })
      const received = await storage.staging.receive(UNNAMED, streamOf('aaaaaaaa'))
      received.keep()
      await assert.rejects(stage(storage, 'b', 'bbbb', 'did_b'), NO_SPACE)
      assert.equal(await readText(received.blob), 'aaaaaaaa')
      await received.release()
      await stage(storage, 'b', 'bbbb', 'did_b')
    })

    it('of bytes: who has more gives way before an upload of the one who asks does', async (t) => {
      const storage = await openTestStorage(t, { limits })
      const uploads = ['a', 'b'].map((name) => {
        return stageUpload(storage.staging, header(name, { declaredSize: 3 }), stuckBehind('aaa'))
      })
      const refused = assert.rejects(Promise.race(uploads), NO_SPACE)
      while ((await storage.blobFiles()).length < 2) continue
      await stage(storage, 'b', 'b', 'did_b')
      await stage(storage, 'c', 'cccc', 'did_b')
      await refused
      assert.equal(await find(storage, 'b', 'did_b'), 'b')
      assert.equal(await find(storage, 'c', 'did_b'), 'cccc')
    })

    it('of the disk', async (t) => {
      const storage = await openTestStorage(t, { limits: { minFreeBytes: 2 ** 60 } })
      await assert.rejects(storage.staging.admit(UNNAMED), NO_SPACE)
      await assert.rejects(stage(storage, 'a', 'hello'), NO_SPACE)
      assert.deepEqual(await storage.blobFiles(), [])
      assert.equal((await storage.freeBytes()) > 0, true)
    })
  })

  describe('is checked at start', () => {
    for (const [what, spoil] of Object.entries({
      torn: (text: string) => text.slice(0, 20),
      'of a later version': (text: string) => text.replace('"version":1', '"version":2'),
      'not JSON': () => 'hello',
      'named like a path': (text: string) => text.replace('"a"', '"../a"'),
    })) {
      it(`a record that is ${what} is named, and left alone with its bytes`, async (t) => {
        const storage = await openTestStorage(t)
        await stage(storage, 'a', 'hello')
        const [record, blob] = [await recordOf(storage), await pathOfBlob(storage)]
        const spoilt = spoil(await readFile(record, 'utf8'))
        const again = await storage.restart(() => writeFile(record, spoilt))
        assert.equal(await find(again, 'a'), undefined)
        assert.equal(await readFile(record, 'utf8'), spoilt)
        assert.equal(await readFile(blob, 'utf8'), 'hello')
        assert.equal(again.logger.text.includes(JSON.stringify(record).slice(1, -1)), true)
        assert.equal(again.logger.text.includes('hello'), false)
      })
    }

    const SECTOR = 512
    for (const [what, spoil] of Object.entries({
      'an empty record': ({ record }: Paths) => truncate(record),
      'a record of zeros': ({ record }: Paths) => writeFile(record, '\0'.repeat(300)),
      'the first sectors of a record': async ({ record }: Paths) => {
        const text = (await readFile(record, 'utf8')).trimEnd()
        await writeFile(record, text.padEnd(SECTOR).slice(0, SECTOR))
      },
      'some of the bytes': ({ blob }: Paths) => truncate(blob, 2),
      'no bytes': ({ blob }: Paths) => unlink(blob),
    })) {
      it(`an upload of which a power cut left ${what} is swept`, async (t) => {
        const storage = await openTestStorage(t)
        await stage(storage, 'a', 'hello')
        const paths = { record: await recordOf(storage), blob: await pathOfBlob(storage) }
        const again = await storage.restart(() => spoil(paths))
        assert.deepEqual([await again.stagingFiles(), await again.blobFiles()], [[], []])
        assert.deepEqual(again.logger.lines, [])
      })
    }

    it('bytes of another boot are compared with their hash, those of this one are not', async (t) => {
      for (const [isOfThisBoot, isWhole, left] of [
        [false, false, 0],
        [false, true, 1],
        [true, true, 1],
      ] as const) {
        const storage = await openTestStorage(t)
        await stage(storage, 'a', 'hello')
        const [record, blob] = [await recordOf(storage), await pathOfBlob(storage)]
        const again = await storage.restart(async () => {
          if (!isWhole) await writeFile(blob, 'he\0\0\0')
          const { bootId, ...rest } = JSON.parse(await readFile(record, 'utf8'))
          const other = isOfThisBoot ? bootId : 'an earlier one'
          await writeFile(record, `${JSON.stringify({ ...rest, bootId: other })}\n`)
        })
        assert.equal((await again.stagingFiles()).length, left)
        assert.equal((await again.blobFiles()).length, left)
      }
    })

    for (const change of ['revoke', 'rotate'] as const) {
      it(`what a device staged and began is swept when ${change} came just before a crash`, async (t) => {
        const devices = await openTestDevices()
        const storage = await openTestStorage(t, { devices })
        const [gone, kept] = [
          await pairAndStage(devices, storage),
          await pairAndStage(devices, storage),
        ]
        const begin = async (deviceId: string): Promise<string> => {
          const passwordHash = devices.find(deviceId)?.passwordHash
          const source = { deviceId, passwordHash, dataName: 'b', declaredSize: undefined }
          return (await storage.staging.begin(source)).token
        }
        const tokens = [await begin(gone), await begin(kept)] as const
        const again = await storage.restart(async () => void (await devices[change](gone)))
        assert.equal(await find(again, 'a', gone), undefined)
        assert.equal(again.staging.find(gone, tokens[0]), undefined)
        assert.equal(await find(again, 'a', kept), 'hello')
        assert.equal(again.staging.find(kept, tokens[1])?.offset, 0)
        assert.equal((await again.stagingFiles()).length, 2)
        assert.equal((await again.blobFiles()).length, 2)
      })
    }

    it('what the owner staged and began is there, whoever is paired', async (t) => {
      const devices = await openTestDevices()
      await devices.add({ kind: 'phone' })
      const storage = await openTestStorage(t, { devices })
      await stage(storage, 'a', 'hello', OWNER_ID)
      const begun = await storage.staging.begin(header('b', { deviceId: OWNER_ID }))
      const again = await storage.restart()
      assert.equal(await find(again, 'a', OWNER_ID), 'hello')
      assert.equal(again.staging.find(OWNER_ID, begun.token)?.offset, 0)
    })

    it('a record of an earlier version, which names no credential, still counts', async (t) => {
      const devices = await openTestDevices()
      const storage = await openTestStorage(t, { devices })
      const deviceId = await pairAndStage(devices, storage)
      const path = await recordOf(storage)
      const text = (await readFile(path, 'utf8')).replace(/"credential":"[0-9a-f]+",/, '')
      const again = await storage.restart(() => writeFile(path, text))
      assert.equal(await find(again, 'a', deviceId), 'hello')
    })

    it('nobody stages who was shut out before', async (t) => {
      const devices = await openTestDevices()
      const { device } = await devices.add({ kind: 'phone' })
      const source = header('a', { deviceId: device.id, passwordHash: device.passwordHash })
      const { staging, blobFiles } = await openTestStorage(t, { devices })
      await devices.rotate(device.id)
      const upload = stageUpload(staging, source, streamOf('hello'))
      await assert.rejects(upload, { code: 'CREDENTIAL_GONE' })
      assert.deepEqual(await blobFiles(), [])
    })

    it('what is not ours stays, and is not followed', async (t) => {
      const storage = await openTestStorage(t)
      const name = 'ab'.repeat(16)
      const again = await storage.restart(async () => {
        for (const folder of ['staging', 'blobs']) {
          await writeFile(join(storage.folder, folder, 'notes.txt'), 'mine')
          await writeFile(join(storage.folder, folder, `${name}.JSON`), 'mine')
          await symlink('notes.txt', join(storage.folder, folder, `${name}.json`))
          await symlink('notes.txt', join(storage.folder, folder, name))
        }
        await writeFile(join(storage.folder, 'blobs', 'cd'.repeat(16)), 'debris')
        await writeFile(join(storage.folder, 'staging', 'x.json.0123456789ab.tmp'), 'debris')
      })
      const expected = [`${name}`, `${name}.JSON`, `${name}.json`, 'notes.txt']
      assert.deepEqual([...(await again.blobFiles())].sort(), expected)
      assert.deepEqual([...(await again.stagingFiles())].sort(), expected)
    })
  })

  it('is nothing when its record cannot be written', async (t) => {
    const storage = await openTestStorage(t, { limits: { stagingQuotaBytes: 10 } })
    const { staging, folder } = storage
    await rename(join(folder, 'staging'), join(folder, 'elsewhere'))
    const source = { deviceId: 'did_a', declaredSize: undefined }
    const received = await staging.receive(source, streamOf('hello'))
    const staged = received.stage({ dataName: 'a.txt', mediaType: 'text/plain' })
    await assert.rejects(staged, { code: 'ENOENT' })
    assert.deepEqual(await storage.blobFiles(), [])
    await rename(join(folder, 'elsewhere'), join(folder, 'staging'))
    await stage(storage, 'b.txt', 'bbbbbbbbbb')
  })

  it('is described by a record without secrets', async (t) => {
    const storage = await openTestStorage(t)
    const passwordHash = '$argon2id$secret'
    const source = header('a.txt', { passwordHash })
    const { blob } = await stageUpload(storage.staging, source, streamOf('hello'))
    const text = await readFile(await recordOf(storage), 'utf8')
    assert.equal(text.includes('argon2id'), false)
    assert.deepEqual(STAGING_RECORD.parse(text), {
      deviceId: 'did_a',
      dataName: 'a.txt',
      mediaType: 'text/plain',
      member: undefined,
      knownAs: undefined,
      credential: sha256(passwordHash),
      size: 5,
      ...blob.digests,
      stagedAt: storage.clock.now(),
      isResumable: false,
      sequence: 0,
      bootId: readBoot().bootId,
    })
  })
})
