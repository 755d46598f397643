import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, it } from 'node:test'
import { ChangeHub } from '../../src/inbound/change-hub.ts'
import { ClipboardPipeline, type PipelineDeps } from '../../src/inbound/clipboard-pipeline.ts'
import type { Change } from '../../src/ports/change-feed.ts'
import type { InboundItem } from '../../src/ports/inbound-pipeline.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { sha256 } from '../support/hashes.ts'
import { MemoryBlobStore } from '../support/memory-blob-store.ts'
import { MemoryDeviceRegistry } from '../support/memory-device-registry.ts'
import { MemoryLatestItem } from '../support/memory-latest-item.ts'
import { MemoryStagingArea } from '../support/memory-staging-area.ts'
import { stageUpload } from '../support/staging-contract.ts'

const HELLO_TEXT = 'blake3v1:d10e733553f46c16ca8d7cb0154d91f4052ef7f53e874a3d387acd64c918f89b'
const HELLO_FILE = 'blake3v1:63456970037b02a7b9179dc07c7a319d2662e43226bb082a8490e987b089e357'

const PHONE = { kind: 'device', deviceId: 'did_1' } as const

const ITEM: InboundItem = {
  origin: PHONE,
  type: 'Text',
  text: '',
  dataName: '',
  hash: '',
  bytes: { kind: 'none' },
}

function setUp({ devices, member }: Pick<PipelineDeps, 'devices' | 'member'> = {}) {
  const blobs = new MemoryBlobStore()
  const staging = new MemoryStagingArea(blobs)
  const latest = new MemoryLatestItem()
  const clock = new FakeClock()
  const logger = new CaptureLogger()
  const changes = new ChangeHub()
  const seen: Change[] = []
  changes.subscribe((change) => seen.push(change))
  const deps = { staging, latest, changes, clock, logger, maxTextBytes: 100, member, devices }
  const inbound = new ClipboardPipeline(deps)

  return {
    blobs,
    staging,
    latest,
    clock,
    logger,
    seen,
    inbound,
    pushText: (text: string) => inbound.apply({ ...ITEM, text }),
    stage: (
      dataName: string,
      content: string,
      mediaType = 'application/octet-stream',
      deviceId = 'did_1',
    ) =>
      stageUpload(
        staging,
        { deviceId, dataName, mediaType, declaredSize: undefined },
        chunks(content),
      ),
    describe: (item: Partial<InboundItem>) =>
      inbound.apply({ ...ITEM, bytes: { kind: 'staged' }, ...item }),
  }
}

async function* chunks(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content, 'latin1')
}

describe('an item of another member', () => {
  const member = { id: 'm_0000000000000001', learn: () => undefined }
  const from = (at: number) =>
    ({ kind: 'peer', stamp: { at, member: 'm_0000000000000002' }, deviceId: 'did_9' }) as const
  const hello = sha256('hello')
  const grouped = () =>
    setUp({ member: { ...member, now: () => 1000, believes: (at) => at < 1_000_000 } })

  it('is refused when it is stamped too far ahead, and changes nothing', async () => {
    const { describe, pushText, latest, seen } = grouped()
    await pushText('ours')
    const far = {
      type: 'Text',
      text: 'theirs',
      origin: from(1_000_000),
      bytes: { kind: 'none' },
    } as const
    await assert.rejects(describe(far), { code: 'STAMP_AHEAD' })
    assert.deepEqual([latest.current?.item.text, seen.length], ['ours', 1])
  })

  it('gets the name and type there, of bytes that are here, and is told; else only its stamp', async () => {
    const { stage, describe, latest, blobs, seen } = grouped()
    await stage('a.bin', 'hello')
    await describe({ type: 'File', dataName: 'a.bin' })
    const named = {
      type: 'Group',
      text: 'b',
      dataName: 'b.zip',
      hash: hello,
      mediaType: 'application/zip',
    } as const
    await describe({ ...named, origin: from(2000) })
    const { item } = latest.current ?? {}
    assert.deepEqual(
      [item?.type, item?.dataName, item?.text, item?.mediaType, item?.stamp?.at],
      ['Group', 'b.zip', 'b', 'application/zip', 2000],
    )
    assert.equal(seen.length, 2)
    await describe({ ...named, origin: from(3000) })
    assert.equal(latest.current?.item.stamp?.at, 3000)
    assert.deepEqual([seen.length, blobs.count], [2, 1])
  })

  it('is never one whose hash somebody only said to be the same', async () => {
    const { stage, describe } = grouped()
    await stage('a.bin', 'others')
    await describe({ type: 'File', dataName: 'a.bin', hash: hello })
    const wanted = { type: 'File', dataName: 'a.bin', hash: hello, origin: from(2000) } as const
    await assert.rejects(describe(wanted), { code: 'NOTHING_STAGED' })
  })
})

describe('a pushed Text', () => {
  it('becomes the current item, known by its published content id', async () => {
    const { pushText, latest, seen } = setUp()
    const { contentId } = await pushText('hello')
    assert.equal(contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.text, 'hello')
    assert.deepEqual(
      seen.map((change) => change.contentId),
      [HELLO_TEXT],
    )
  })

  it('has its size in bytes', async () => {
    const { pushText, latest } = setUp()
    await pushText('€')
    assert.equal(latest.current?.item.size, 3)
  })

  it('is refused when it is longer than texts may be, whoever hands it in, and as a name too', async () => {
    const { inbound, latest, stage, describe: describeUpload } = setUp()
    const stamp = { at: 1, member: 'm_0000000000000001' }
    for (const origin of [
      PHONE,
      { kind: 'clipboard' },
      { kind: 'peer', stamp, deviceId: undefined },
      { kind: 'peer', stamp, deviceId: 'did_2' },
    ] as const) {
      for (const text of ['x'.repeat(101), '€'.repeat(34)]) {
        await assert.rejects(inbound.apply({ ...ITEM, origin, text }), { code: 'TEXT_TOO_LARGE' })
      }
    }
    await stage('a.bin', 'bytes')
    const named = { type: 'File', dataName: 'a.bin', text: 'x'.repeat(101) } as const
    await assert.rejects(describeUpload(named), { code: 'TEXT_TOO_LARGE' })
    assert.equal(latest.current, undefined)
    await describeUpload({ ...named, text: 'a.bin' })
    const { item } = await inbound.apply({ ...ITEM, text: '€'.repeat(33) })
    assert.equal(item?.size, 99)
  })

  it('never blanks the clipboard when it is empty', async () => {
    const { pushText, latest, seen } = setUp()
    const empty = await pushText('')
    assert.match(empty.contentId, /^blake3v1:[0-9a-f]{64}$/)
    assert.equal(seen.length, 0)
    await pushText('hello')
    assert.equal((await pushText('')).contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.text, 'hello')
    assert.equal(seen.length, 1)
  })
})

describe('a long Text', () => {
  const long = { type: 'Text', text: 'pre…', dataName: 'long.txt' } as const

  it('is what was staged, not its preview, and leaves no bytes behind', async () => {
    const { stage, describe, latest, blobs, staging } = setUp()
    await stage('long.txt', 'hello')
    assert.equal((await describe(long)).contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.text, 'hello')
    assert.deepEqual([blobs.count, staging.count], [0, 0])
  })

  it('is refused when nothing was staged, and the preview is not applied', async () => {
    const { describe, latest } = setUp()
    await assert.rejects(describe(long), { code: 'NOTHING_STAGED' })
    assert.equal(latest.current, undefined)
  })

  it('is refused when it is not UTF-8 or too long, and stays staged', async () => {
    const { stage, describe, staging } = setUp()
    await stage('long.txt', '\xff\xfe')
    await assert.rejects(describe(long), { code: 'TEXT_NOT_UTF8' })
    await stage('long.txt', 'x'.repeat(101))
    await assert.rejects(describe(long), { code: 'TEXT_TOO_LARGE' })
    assert.equal(staging.count, 1)
  })
})

describe('a pushed File', () => {
  it('takes the bytes that its own device staged', async () => {
    const { stage, describe, latest, blobs, staging } = setUp()
    await stage('a.bin', 'hello')
    assert.equal((await describe({ type: 'File', dataName: 'a.bin' })).contentId, HELLO_FILE)
    assert.equal(latest.current?.item.text, 'a.bin')
    assert.equal(latest.binary, latest.current)
    assert.deepEqual([blobs.count, staging.count], [1, 0])
  })

  it('never gets what another device staged', async () => {
    const { stage, describe } = setUp()
    await stage('a.bin', 'hello', 'text/plain', 'did_2')
    await assert.rejects(describe({ type: 'File', dataName: 'a.bin' }), { code: 'NOTHING_STAGED' })
  })

  it('may be named by its text alone', async () => {
    const { stage, describe, latest } = setUp()
    await stage('a.bin', 'hello')
    await describe({ type: 'File', text: 'a.bin' })
    assert.equal(latest.current?.item.dataName, 'a.bin')
  })

  it('is an Image when its bytes are', async () => {
    const { stage, describe, latest } = setUp()
    await stage('a', 'hello', 'image/png')
    assert.equal((await describe({ type: 'File', dataName: 'a' })).contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.type, 'Image')
  })

  it('stays readable after a Text became current, and discards the one before it', async () => {
    const { stage, describe, pushText, latest, blobs } = setUp()
    await stage('a', 'one')
    await describe({ type: 'File', dataName: 'a' })
    await pushText('hello')
    assert.equal(latest.binary?.item.dataName, 'a')
    await stage('b', 'two')
    await describe({ type: 'File', dataName: 'b' })
    assert.equal(latest.binary?.item.dataName, 'b')
    assert.equal(blobs.count, 1)
  })

  it('stays staged when it cannot be stored', async () => {
    const { stage, describe, staging, latest } = setUp()
    const { blob } = await stage('a', 'one')
    await blob.discard()
    await assert.rejects(describe({ type: 'File', dataName: 'a' }), { code: 'BLOB_GONE' })
    assert.equal(latest.current, undefined)
    assert.equal(staging.count, 1)
  })
})

describe('a push of what is there already', () => {
  it('is current again, under the same id, and known by the new hash too', async () => {
    const { stage, describe, pushText, latest, clock, seen } = setUp()
    await stage('a', 'hello')
    await describe({ type: 'File', dataName: 'a', hash: 'ONE' })
    await pushText('in between')
    clock.advance(1000)
    for (const item of [{ hash: 'one' }, { dataName: 'a', hash: 'TWO' }, { hash: 'two' }]) {
      clock.advance(1000)
      assert.equal((await describe({ type: 'File', ...item })).contentId, HELLO_FILE)
      assert.equal(latest.current?.item.activatedAt, clock.now())
    }
    assert.deepEqual(latest.current?.item.aliases, ['one', 'two'])
    assert.equal(seen.length, 5)
  })

  it('is not meant by its name with the hash of something else', async () => {
    const { stage, describe, latest } = setUp()
    await stage('a', 'hello')
    await describe({ type: 'File', dataName: 'a' })
    // That of version 2 of the protocol.
    const md5 = '5d41402abc4b2a76b9719d911017c592'
    assert.equal(
      (await describe({ type: 'File', dataName: 'a', hash: md5.toUpperCase() })).contentId,
      HELLO_FILE,
    )
    for (const hash of ['7d793037a0760186574b0282f2f435e7', '0'.repeat(64)]) {
      await assert.rejects(describe({ type: 'File', dataName: 'a', hash }), {
        code: 'NOTHING_STAGED',
      })
    }
    assert.deepEqual(latest.current?.item.aliases, [md5])
  })

  it('keeps its former names as aliases when it comes under a new one', async () => {
    const { stage, describe, latest } = setUp()
    await stage('a', 'hello')
    await describe({ type: 'File', dataName: 'a', hash: 'one' })
    const formerName = latest.current?.item.nameHash ?? ''
    await stage('b', 'hello')
    await describe({ type: 'File', dataName: 'b' })
    assert.equal(latest.current?.item.dataName, 'b')
    assert.deepEqual(latest.current?.item.aliases, ['one', formerName])
  })

  it('is known by its text when that was its only name', async () => {
    const { stage, describe, clock } = setUp()
    await stage('a', 'hello')
    await describe({ type: 'File', text: 'a' })
    clock.advance(1000)
    assert.equal((await describe({ type: 'File', text: 'a' })).contentId, HELLO_FILE)
  })

  it('is never known by the bound name of a Group, which has no such hash', async () => {
    const { stage, describe, latest } = setUp()
    for (const [name, hash] of [
      ['a.zip', 'FromClient'],
      ['b.zip', ''],
    ] as const) {
      await stage(name, 'hello')
      await describe({ type: 'Group', dataName: name, hash })
    }
    assert.deepEqual(latest.current?.item.aliases, ['fromclient'])
  })

  it('teaches a new hash also when it counts as the same push', async () => {
    const { inbound, latest, seen } = setUp()
    for (const hash of ['ONE', 'TWO', 'TWO']) await inbound.apply({ ...ITEM, text: 'hello', hash })
    assert.deepEqual(latest.current?.item.aliases, ['one', 'two'])
    assert.equal(seen.length, 1)
  })

  it('counts once when the same device sends it twice at once', async () => {
    const { pushText, inbound, clock, seen } = setUp()
    await pushText('hello')
    clock.advance(199)
    await pushText('hello')
    assert.equal(seen.length, 1)
    await inbound.apply({ ...ITEM, text: 'hello', origin: { kind: 'device', deviceId: 'did_2' } })
    assert.equal(seen.length, 2)
    clock.advance(200)
    await pushText('hello')
    assert.equal(seen.length, 3)
  })

  it('leaves no bytes behind when it is such a repetition', async () => {
    const { stage, describe, blobs, staging, seen } = setUp()
    for (const name of ['a', 'a', 'b']) {
      await stage(name, 'hello')
      await describe({ type: 'File', dataName: name })
    }
    assert.equal(seen.length, 2, 'another name is another push')
    assert.deepEqual([blobs.count, staging.count], [1, 0])
  })
})

describe('a copy on the desktop', () => {
  it('is not taken for new when it is what a phone pushed', async () => {
    const { pushText, inbound, clock, seen } = setUp()
    await pushText('hello')
    clock.advance(60_000)
    await inbound.apply({ ...ITEM, text: 'hello', origin: { kind: 'clipboard' } })
    assert.equal(seen.length, 1)
  })
})

describe('applying', () => {
  it('happens in the order of the calls, also when one fails', async () => {
    const { pushText, describe, latest } = setUp()
    const results = await Promise.allSettled([
      pushText('one'),
      describe({ type: 'File', dataName: 'missing' }),
      pushText('two'),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(latest.current?.item.text, 'two')
  })

  it('does not fail when an effect does, and says so in the log without content', async () => {
    const effects = new EventEmitter()
    const { pushText, inbound, logger } = setUp()
    inbound.addEffect(async () => {
      setImmediate(() => effects.emit('ran'))
      throw new Error('no display')
    })
    await Promise.all([once(effects, 'ran'), pushText('secret')])
    assert.match(logger.text, /no display/)
    assert.doesNotMatch(logger.text, /secret/)
  })
})

describe('a document that may name a picture by its MD5', () => {
  const WRONG = 'ab'.repeat(16)

  /** A picture whose reading goes on only when it is let. */
  async function setUpPicture() {
    const daemon = setUp()
    await daemon.stage('p.png', 'hello', 'image/png')
    await daemon.describe({ type: 'Image', dataName: 'p.png' })
    const blob = daemon.latest.binary?.blob
    assert.ok(blob !== undefined)
    const reading = new EventEmitter()
    const open = blob.open.bind(blob)
    let reads = 0
    blob.open = async () => {
      reads += 1
      reading.emit('begins')
      await once(reading, 'goes on')
      return open()
    }
    const askFor = (hash: string) => daemon.describe({ type: 'Image', dataName: 'p.png', hash })
    return { ...daemon, blob, open, reading, askFor, reads: () => reads }
  }

  it('keeps nobody else waiting while the picture is read, and has it read once', async () => {
    const { inbound, blob, open, reading, askFor, reads, latest } = await setUpPicture()
    const begun = once(reading, 'begins')
    const refused = Promise.allSettled(Array.from({ length: 40 }, () => askFor(WRONG)))
    await begun
    const other = { kind: 'device', deviceId: 'did_2' } as const
    await inbound.apply({ ...ITEM, origin: other, text: 'from somebody else' })
    assert.equal(latest.current?.item.text, 'from somebody else')

    reading.emit('goes on')
    const codes = (await refused).map((end) => end.status === 'rejected' && end.reason.code)
    assert.deepEqual([...new Set(codes)], ['NOTHING_STAGED'])
    assert.equal(reads(), 1)
    blob.open = open
    await askFor('5d41402abc4b2a76b9719d911017c592')
    assert.equal(latest.current?.item.dataName, 'p.png')
  })

  it('means what is there when the picture was read, and not what was there before', async () => {
    const { stage, describe, inbound, reading, askFor, latest } = await setUpPicture()
    const begun = once(reading, 'begins')
    const asked = askFor('5d41402abc4b2a76b9719d911017c592')
    await begun
    // Another device has another picture of that name current before the answer is known.
    await stage('p.png', 'world', 'image/png', 'did_2')
    const other = { kind: 'device', deviceId: 'did_2' } as const
    await describe({ origin: other, type: 'Image', dataName: 'p.png' })
    reading.emit('goes on')
    await assert.rejects(asked, { code: 'NOTHING_STAGED' })
    await inbound.apply({ ...ITEM, text: 'and on' })
    assert.equal(
      latest.binary?.item.contentHash,
      '486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7',
    )
  })
})

describe('a sender that is shut out', () => {
  /** The device of each kind of origin, and what shuts it out. */
  async function shutOut(change: 'revoke' | 'rotate') {
    const devices = new MemoryDeviceRegistry()
    const { device } = await devices.add({ kind: 'phone' })
    const { id: deviceId, passwordHash } = device
    const stamp = { at: 5, member: 'm_0000000000000001' }
    const at = setUp({ devices })
    return {
      ...at,
      deviceId,
      shutOut: () => devices[change](deviceId),
      origins: [
        { kind: 'device', deviceId, passwordHash },
        { kind: 'peer', deviceId, passwordHash, stamp },
      ] as const,
    }
  }

  for (const change of ['revoke', 'rotate'] as const) {
    it(`applies nothing after ${change}, whatever it had asked for before`, async () => {
      const {
        inbound,
        origins,
        shutOut: end,
        deviceId,
        stage,
        latest,
        seen,
        staging,
        blobs,
      } = await shutOut(change)
      await inbound.apply({ ...ITEM, text: 'before' }).then(
        () => assert.fail('nobody can be sure whose it is'),
        () => undefined,
      )
      await inbound.apply({ ...ITEM, origin: origins[0], text: 'before' })
      await stage('a.txt', 'hello', 'text/plain', deviceId)
      const applied = origins.flatMap((origin) => [
        inbound.apply({ ...ITEM, origin, text: 'after' }),
        inbound.apply({
          ...ITEM,
          origin,
          type: 'File',
          dataName: 'a.txt',
          bytes: { kind: 'staged' },
        }),
        inbound.apply({ ...ITEM, origin, text: 'before', hash: 'ab' }),
      ])
      const refused = Promise.all(
        applied.map((promise) => assert.rejects(promise, { code: 'CREDENTIAL_GONE' })),
      )
      await end()
      await refused
      assert.equal(latest.current?.item.text, 'before')
      assert.equal(seen.length, 1)
      assert.deepEqual([staging.count, blobs.count], [1, 1])
    })

    it(`applies nothing when ${change} comes while its bytes are looked at`, async () => {
      const {
        inbound,
        origins: [origin],
        shutOut: end,
        latest,
        blobs,
        staging,
        stage,
        deviceId,
      } = await shutOut(change)
      const { blob } = await stage('a.txt', 'hello', 'text/plain', deviceId)
      const open = blob.open.bind(blob)
      Object.assign(blob, {
        open: async () => {
          await end()
          return open()
        },
      })
      const text = { ...ITEM, origin, dataName: 'a.txt', bytes: { kind: 'staged' } } as const
      await assert.rejects(inbound.apply(text), { code: 'CREDENTIAL_GONE' })
      assert.equal(latest.current, undefined)
      assert.deepEqual([staging.count, blobs.count], [1, 1])
    })
  }
})
