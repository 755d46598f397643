import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { lstatSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { ChangeHub } from '../../src/inbound/change-hub.ts'
import { ClipboardPipeline, type PipelineDeps } from '../../src/inbound/clipboard-pipeline.ts'
import { FileSaves } from '../../src/inbound/file-saves.ts'
import type { Change } from '../../src/ports/change-feed.ts'
import type { InboundItem } from '../../src/ports/inbound-pipeline.ts'
import type { StoredItem } from '../../src/ports/latest-item.ts'
import { MAX_NAME_TEXT_BYTES } from '../../src/core/limits.ts'
import { only } from '../../src/lib/read-bytes.ts'
import { turnsAt } from '../../src/lib/user-files.ts'
import { openTestStorage } from '../storage/support/open-stores.ts'
import { streamOf } from '../support/byte-streams.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { md5, sha256 } from '../support/hashes.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { openTestDevices } from '../support/test-devices.ts'
import { stageUpload } from '../support/staging-contract.ts'

const HELLO_TEXT = 'blake3v1:d10e733553f46c16ca8d7cb0154d91f4052ef7f53e874a3d387acd64c918f89b'
const HELLO_FILE = 'blake3v1:63456970037b02a7b9179dc07c7a319d2662e43226bb082a8490e987b089e357'

/** The hash by which version 2 of the protocol names pictures. */
const MD5 = '5d41402abc4b2a76b9719d911017c592'

const NEVER: AbortSignal = new AbortController().signal

const PHONE = { kind: 'device', deviceId: 'did_1' } as const
const OTHER_PHONE = { kind: 'device', deviceId: 'did_2' } as const

const ITEM: InboundItem = {
  origin: PHONE,
  type: 'Text',
  text: '',
  dataName: '',
  hash: '',
  bytes: { kind: 'none' },
}

async function setUp(
  t: TestContext,
  { devices, member }: Pick<PipelineDeps, 'devices' | 'member'> = {},
) {
  const clock = new FakeClock()
  const storage = await openTestStorage(t, { clock })
  const { blobs, staging, latest, blobFiles } = storage
  const countWaiting = () => staging.stats().uploads
  const logger = new CaptureLogger()
  const changes = new ChangeHub(logger)
  const seen: Change[] = []
  changes.subscribe((change) => seen.push(change))
  const deps = { staging, latest, changes, clock, logger, maxTextBytes: 100, member, devices }
  const inbound = new ClipboardPipeline(deps)
  const stage = (dataName: string, content: string, mediaType = 'x/y', deviceId = 'did_1') => {
    const header = { deviceId, dataName, mediaType, declaredSize: undefined }
    return stageUpload(staging, header, streamOf(Buffer.from(content, 'latin1')))
  }
  const describe = (item: Partial<InboundItem>) => {
    return inbound.apply({ ...ITEM, bytes: { kind: 'staged' }, ...item })
  }
  return {
    changes,
    storage,
    blobs,
    staging,
    latest,
    clock,
    logger,
    seen,
    inbound,
    stage,
    describe,
    pushText: (text: string) => inbound.apply({ ...ITEM, text }),
    pushFile: async (dataName: string, content: string, more: Partial<InboundItem> = {}) => {
      await stage(dataName, content)
      return describe({ type: 'File', dataName, ...more })
    },
    /** How many blobs there are, and how many uploads wait. */
    counts: async () => [(await blobFiles()).length, countWaiting()],
    countWaiting,
  }
}

describe('an item of another member', () => {
  const from = (at: number) =>
    ({ kind: 'peer', stamp: { at, member: 'm_0000000000000002' }, deviceId: 'did_9' }) as const
  const hello = sha256('hello')
  const grouped = (t: TestContext) => {
    const time = { now: () => 1000, learn: () => undefined, believes: (at: number) => at < 1e6 }
    return setUp(t, { member: { id: 'm_0000000000000001', ...time } })
  }

  // Protocol: is further ahead of the clock than ten years and 30 days
  it('is refused when it is stamped too far ahead, and changes nothing', async (t) => {
    const { inbound, pushText, latest, seen } = await grouped(t)
    await pushText('ours')
    const far = { ...ITEM, text: 'theirs', origin: from(1e6) }
    await assert.rejects(inbound.apply(far), { code: 'STAMP_AHEAD' })
    assert.deepEqual([latest.current?.item.text, seen.length], ['ours', 1])
  })

  // Protocol: the item takes over the stamp, and only peers are told
  it('gets the name and type there, of bytes that are here, and is told; else only its stamp', async (t) => {
    const { pushFile, describe, latest, counts, seen } = await grouped(t)
    await pushFile('a.bin', 'hello')
    const mediaType = 'application/zip'
    const named = { type: 'Group', text: 'b', dataName: 'b.zip', hash: hello, mediaType } as const
    await describe({ ...named, origin: from(2000) })
    const { item } = latest.current ?? {}
    assert.deepEqual(
      [item?.type, item?.dataName, item?.text, item?.mediaType, item?.stamp?.at, seen.length],
      ['Group', 'b.zip', 'b', mediaType, 2000, 2],
    )
    await describe({ ...named, origin: from(3000) })
    assert.deepEqual([latest.current?.item.stamp?.at, seen.length], [3000, 2])
    assert.deepEqual(await counts(), [1, 0])
  })

  it('leaves no bytes behind when it came over another link meanwhile, or something later did', async (t) => {
    const { stage, describe, pushText, counts } = await grouped(t)
    const film = { type: 'File', dataName: 'a.bin', hash: hello, origin: from(2000) } as const
    for (const later of [() => describe(film), () => pushText('later')]) {
      await stage('a.bin', 'hello', 'x/y', 'did_9')
      await later()
      await stage('a.bin', 'hello', 'x/y', 'did_9')
      await stage('b.bin', 'else', 'x/y', 'did_9')
      await describe(film)
      // Another upload waits on, also one that has its name.
      await describe({ ...film, dataName: 'b.bin' })
      assert.deepEqual(await counts(), [2, 1])
    }
  })

  it('is no later one when only its document calls it otherwise than it is called here', async (t) => {
    const { stage, describe, changes, seen } = await grouped(t)
    let told = 0
    changes.subscribe(
      () => undefined,
      () => (told += 1),
    )
    const names = ['a.png', 'b.png', 'c.png', 'd.png', 'e.png', 'f.png']
    const isLater = names.map((name) => sha256(`File|${name}`) > sha256(`Image|${name}`))
    assert.deepEqual([isLater.includes(true), isLater.includes(false)], [true, true])
    for (const [index, dataName] of names.entries()) {
      await stage(dataName, 'hello', 'image/png')
      await describe({ type: 'Image', dataName })
      const document = { dataName, text: dataName, hash: hello, mediaType: 'image/png' }
      const origin = from(2000 + index)
      await describe({ ...document, type: 'Image', origin })
      told = 0
      const { item } = await describe({ ...document, type: 'File', origin })
      assert.deepEqual([item, told, seen.length], [undefined, 0, index + 1], dataName)
    }
  })

  it('is never one whose hash somebody only said to be the same', async (t) => {
    const { pushFile, describe } = await grouped(t)
    await pushFile('a.bin', 'others', { hash: hello })
    const wanted = { type: 'File', dataName: 'a.bin', hash: hello, origin: from(2000) } as const
    await assert.rejects(describe(wanted), { code: 'NOTHING_STAGED' })
  })
})

describe('a pushed Text', () => {
  // Protocol: `text` is the item
  it('becomes the current item, known by its published content id', async (t) => {
    const { pushText, latest, seen } = await setUp(t)
    assert.equal((await pushText('hello')).contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.text, 'hello')
    assert.equal(seen.map((change) => change.contentId).join(), HELLO_TEXT)
  })

  it('is refused when it is longer than texts may be, whoever hands it in', async (t) => {
    const { inbound, latest } = await setUp(t)
    const stamp = { at: 1, member: 'm_0000000000000001' }
    const peers = [undefined, 'did_2'].map(
      (deviceId) => ({ kind: 'peer', stamp, deviceId }) as const,
    )
    for (const origin of [PHONE, { kind: 'clipboard' } as const, ...peers]) {
      // As in a document, with what JSON escapes: else no client of ours could read it.
      for (const text of ['x'.repeat(101), '€'.repeat(34), '"'.repeat(51), '\x01'.repeat(17)]) {
        await assert.rejects(inbound.apply({ ...ITEM, origin, text }), { code: 'TEXT_TOO_LARGE' })
      }
    }
    assert.equal(latest.current, undefined)
    const { item } = await inbound.apply({ ...ITEM, text: '€'.repeat(33) })
    assert.equal(item?.size, 99, 'bytes')
    await inbound.apply({ ...ITEM, text: '\x01'.repeat(16) })
  })

  // Protocol: Old automations push an empty text by accident
  it('never blanks the clipboard when it is empty', async (t) => {
    const { pushText, latest, seen } = await setUp(t)
    assert.match((await pushText('')).contentId, /^blake3v1:d074b8c0/, 'that of the empty text')
    assert.equal(seen.length, 0)
    await pushText('hello')
    assert.equal((await pushText('')).contentId, HELLO_TEXT)
    assert.deepEqual([latest.current?.item.text, seen.length], ['hello', 1])
  })
})

describe('a long Text', () => {
  const long = { type: 'Text', text: 'pre…', dataName: 'long.txt' } as const

  // Protocol: `text` is a preview and never applied
  it('is what was staged, not its preview, and leaves no bytes behind', async (t) => {
    const { stage, describe, latest, counts } = await setUp(t)
    await stage('long.txt', 'hello')
    assert.equal((await describe(long)).contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.text, 'hello')
    assert.deepEqual(await counts(), [0, 0])
  })

  // Protocol: order mark is a character of a text like others
  it('has its byte order mark, whatever way it came', async (t) => {
    const { stage, describe, pushText, latest, clock } = await setUp(t)
    const bytes = '\xef\xbb\xbfhello'
    await stage('long.txt', bytes)
    await describe({ ...long, hash: sha256(Buffer.from(bytes, 'latin1')) })
    const staged = latest.current?.item
    clock.advance(1000)
    await pushText('\ufeffhello')
    const { text, contentHash, size } = latest.current?.item ?? {}
    assert.deepEqual([text, size, contentHash], ['\ufeffhello', 8, staged?.contentHash])
    assert.deepEqual([staged?.text, staged?.aliases], [text, []])
  })

  // Protocol: Not UTF-8: 400. Over 16 MiB in JSON: 413
  it('is refused when nothing was staged, when it is not UTF-8 or too long, and stays staged', async (t) => {
    const { stage, describe, latest, countWaiting } = await setUp(t)
    await assert.rejects(describe(long), { code: 'NOTHING_STAGED' })
    await stage('long.txt', '\xff\xfe')
    await assert.rejects(describe(long), { code: 'TEXT_NOT_UTF8' })
    for (const text of ['x'.repeat(101), '\n'.repeat(51)]) {
      await stage('long.txt', text)
      await assert.rejects(describe(long), { code: 'TEXT_TOO_LARGE' })
    }
    assert.deepEqual([latest.current, countWaiting()], [undefined, 1])
  })
})

describe('a pushed File', () => {
  // Protocol: the upload that this device staged under `dataName` is the item
  it('takes the bytes that its own device staged', async (t) => {
    const { pushFile, latest, counts } = await setUp(t)
    assert.equal((await pushFile('a.bin', 'hello')).contentId, HELLO_FILE)
    assert.equal(latest.current?.item.text, 'a.bin')
    assert.equal(latest.binary, latest.current)
    assert.deepEqual(await counts(), [1, 0])
  })

  // Protocol: no other device's document can take it
  it('never gets what another device staged', async (t) => {
    const { stage, describe } = await setUp(t)
    await stage('a.bin', 'hello', 'text/plain', 'did_2')
    await assert.rejects(describe({ type: 'File', dataName: 'a.bin' }), { code: 'NOTHING_STAGED' })
  })

  // Protocol: The `text` of an Image, a File or a Group is a name
  it('keeps the beginning of a long text, in whole characters, whatever way it came', async (t) => {
    const { inbound, blobs, stage } = await setUp(t)
    const text = `${'x'.repeat(MAX_NAME_TEXT_BYTES - 1)}🧀${'y'.repeat(5_000_000)}`
    for (const type of ['File', 'Image', 'Group'] as const) {
      await stage('a.bin', 'bytes')
      const blob = await blobs.receive(only(Buffer.from('form')), { maxBytes: 4 })
      const received = { kind: 'received', blob, mediaType: 'x/y' } as const
      for (const bytes of [{ kind: 'staged' } as const, received]) {
        const { item } = await inbound.apply({ ...ITEM, type, dataName: 'a.bin', text, bytes })
        assert.equal(item?.text, 'x'.repeat(MAX_NAME_TEXT_BYTES - 1))
      }
    }
  })

  // Protocol: A File without `dataName` is looked up under `text`
  it('may be named by its text alone, also when it is pushed again', async (t) => {
    const { stage, describe, latest, clock } = await setUp(t)
    await stage('a.bin', 'hello')
    await describe({ type: 'File', text: 'a.bin' })
    assert.equal(latest.current?.item.dataName, 'a.bin')
    clock.advance(1000)
    assert.equal((await describe({ type: 'File', text: 'a.bin' })).contentId, HELLO_FILE)
  })

  it('is an Image when its bytes are', async (t) => {
    const { stage, describe, latest } = await setUp(t)
    await stage('a', 'hello', 'image/png')
    assert.equal((await describe({ type: 'File', dataName: 'a' })).contentId, HELLO_TEXT)
    assert.equal(latest.current?.item.type, 'Image')
  })

  it('stays readable after a Text became current, and discards the one before it', async (t) => {
    const { pushFile, pushText, latest, counts } = await setUp(t)
    await pushFile('a', 'one')
    await pushText('hello')
    assert.equal(latest.binary?.item.dataName, 'a')
    await pushFile('b', 'two')
    assert.equal(latest.binary?.item.dataName, 'b')
    assert.deepEqual(await counts(), [1, 0])
  })

  it('stays staged when it cannot be stored', async (t) => {
    const { stage, describe, countWaiting, latest } = await setUp(t)
    const { blob } = await stage('a', 'one')
    await blob.discard()
    await assert.rejects(describe({ type: 'File', dataName: 'a' }), { code: 'BLOB_GONE' })
    assert.deepEqual([latest.current, countWaiting()], [undefined, 1])
  })
})

describe('a push of what is there already', () => {
  // Protocol: the current or the binary item has that `hash`
  it('is current again, under the same id, and known by the new hash too', async (t) => {
    const { pushFile, describe, pushText, latest, clock, seen } = await setUp(t)
    await pushFile('a', 'hello', { hash: 'ONE' })
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

  // Protocol: or the MD5 of the bytes
  it('is not meant by its name with the hash of something else', async (t) => {
    const { pushFile, describe, latest } = await setUp(t)
    await pushFile('a', 'hello')
    const named = { type: 'File', dataName: 'a' } as const
    assert.equal((await describe({ ...named, hash: MD5.toUpperCase() })).contentId, HELLO_FILE)
    for (const hash of ['7d793037a0760186574b0282f2f435e7', '0'.repeat(64)]) {
      await assert.rejects(describe({ ...named, hash }), { code: 'NOTHING_STAGED' })
    }
    assert.deepEqual(latest.current?.item.aliases, [MD5])
  })

  // Protocol: or one that is other than the SHA-256 or name-bound hash of an item here
  it('is what its hash says, not an older upload that waits under its name', async (t) => {
    const { pushFile, stage, describe, pushText, latest, counts } = await setUp(t)
    await pushFile('a', 'new')
    const { contentId, contentHash = '', nameHash = '' } = latest.current?.item ?? {}
    for (const hash of [contentHash, nameHash, nameHash.toUpperCase()]) {
      await pushText(`before ${hash}`)
      await stage('a', 'old')
      assert.equal((await describe({ type: 'File', dataName: 'a', hash })).contentId, contentId)
      assert.equal(latest.current?.item.aliases.length, 0)
    }
    assert.deepEqual(await counts(), [2, 1], 'the older one waits for its own document')
    await pushFile('a', 'newer', { hash: MD5 })
    assert.equal(latest.current?.item.size, 5)
  })

  // Protocol: or that has none (32 or more hex digits)
  it('is no upload that waited before its sender left out another one, unless its hash fits', async (t) => {
    const { stage, staging, describe, pushFile, counts } = await setUp(t)
    await pushFile('a', 'here')
    const named = { type: 'File', dataName: 'a' } as const
    const ownHashes = [
      sha256('old'),
      md5('old'),
      sha256(`a|${sha256('old').toUpperCase()}`),
      'no hash',
      '',
    ]
    for (const hash of ownHashes) {
      await stage('a', 'old')
      await staging.bind('did_1', 'a')
      for (const other of [sha256('new'), MD5]) {
        await assert.rejects(describe({ ...named, hash: other }), { code: 'NOTHING_STAGED' })
      }
      assert.equal((await describe({ ...named, hash })).item?.size, 3, hash)
    }
    await stage('a', 'old')
    for (const hash of [sha256('new'), MD5]) {
      const bytes = { kind: 'staged', isExact: true } as const
      await assert.rejects(describe({ ...named, hash, bytes }), { code: 'NOTHING_STAGED' })
    }
    await staging.bind('did_1', 'b')
    await staging.bind('did_2')
    assert.equal((await describe({ ...named, hash: sha256('its own way') })).item?.size, 3)
    await stage('a', 'old')
    await staging.bind('did_1')
    await stage('a', 'newer')
    assert.equal((await describe({ ...named, hash: sha256('its own way, too') })).item?.size, 5)
    assert.deepEqual(await counts(), [1, 0])
  })

  it('keeps its former names as aliases when it comes under a new one', async (t) => {
    const { pushFile, latest } = await setUp(t)
    await pushFile('a', 'hello', { hash: 'one' })
    const formerName = latest.current?.item.nameHash ?? ''
    await pushFile('b', 'hello')
    assert.equal(latest.current?.item.dataName, 'b')
    assert.deepEqual(latest.current?.item.aliases, ['one', formerName])
  })

  it('is never known by the bound name of a Group, which has no such hash', async (t) => {
    const { pushFile, latest } = await setUp(t)
    await pushFile('a.zip', 'hello', { type: 'Group', hash: 'FromClient' })
    await pushFile('b.zip', 'hello', { type: 'Group' })
    assert.deepEqual(latest.current?.item.aliases, ['fromclient'])
  })

  it('teaches a new hash also when it counts as the same push', async (t) => {
    const { inbound, latest, seen } = await setUp(t)
    for (const hash of ['ONE', 'TWO', 'TWO']) await inbound.apply({ ...ITEM, text: 'hello', hash })
    assert.deepEqual(latest.current?.item.aliases, ['one', 'two'])
    assert.equal(seen.length, 1)
  })

  // Protocol: from the same device within 200 ms is one push
  it('counts once when the same device sends it twice at once', async (t) => {
    const { pushText, inbound, clock, seen } = await setUp(t)
    await pushText('hello')
    clock.advance(199)
    await pushText('hello')
    assert.equal(seen.length, 1)
    await inbound.apply({ ...ITEM, text: 'hello', origin: OTHER_PHONE })
    assert.equal(seen.length, 2)
    clock.advance(200)
    await pushText('hello')
    assert.equal(seen.length, 3)
  })

  it('leaves no bytes behind when it is such a repetition', async (t) => {
    const { pushFile, counts, seen } = await setUp(t)
    for (const name of ['a', 'a', 'b']) await pushFile(name, 'hello')
    assert.equal(seen.length, 2, 'another name is another push')
    assert.deepEqual(await counts(), [1, 0])
  })

  it('has the bytes of a copied file that was written again, and copied again', async (t) => {
    const { inbound, blobs, latest, seen } = await setUp(t)
    const path = await temporaryFile(t, 'a', 'hello')
    for (const time of [1, 2]) {
      await utimes(path, time, time)
      const bytes = {
        kind: 'received',
        blob: await blobs.adopt(path, NEVER),
        mediaType: 'x/y',
      } as const
      const file = { type: 'File', dataName: 'a', bytes } as const
      await inbound.apply({ ...ITEM, ...file, origin: { kind: 'clipboard' } })
      const opened = await latest.current?.blob?.open()
      await opened?.close()
      assert.ok(opened)
    }
    assert.equal(seen.length, 1, 'nobody is told of the second copy')
  })

  // Protocol: to documents also while its share hangs
  it('asks for the bytes again while the share of a copied file hangs', async (t) => {
    const { inbound, blobs, stage, describe, pushText, latest, clock } = await setUp(t)
    const path = await temporaryFile(t, 'a', 'hello')
    const blob = await blobs.adopt(path, NEVER)
    const copied = { kind: 'received', blob, mediaType: 'x/y' } as const
    const file = { type: 'File', dataName: 'a' } as const
    await inbound.apply({ ...ITEM, ...file, origin: { kind: 'clipboard' }, bytes: copied })
    await pushText('newer')
    const share = defer<void>()
    for (const _ of [1, 2]) void turnsAt(path)(() => share.promise)
    const stamp = { at: clock.now() + 60_000, member: 'm_0000000000000002' }
    const origin = { kind: 'peer', deviceId: 'did_1', stamp } as const
    for (const [upload, document] of [
      [undefined, { ...file, hash: sha256('hello') }],
      [undefined, { ...file, hash: MD5 }],
      ['other', { ...file, hash: MD5 }],
      [undefined, { type: 'Text', origin, hash: sha256('hello') }],
    ] as const) {
      if (upload !== undefined) await stage('a', upload)
      const timers = clock.pending
      const pushed = assert.rejects(describe(document), { code: 'NOTHING_STAGED' })
      const text = `behind ${upload} ${document.type} ${document.hash}`
      const next = pushText(text)
      while (clock.pending === timers) await turnOfEvents()
      clock.advance(5000)
      await pushed
      await next
      assert.equal(latest.current?.item.text, text)
    }
    share.resolve()
    assert.equal((await describe({ ...file, hash: MD5 })).contentId, HELLO_FILE)
  })

  it('is nothing new when the desktop copies it', async (t) => {
    const { pushText, inbound, clock, seen } = await setUp(t)
    await pushText('hello')
    clock.advance(60_000)
    await inbound.apply({ ...ITEM, text: 'hello', origin: { kind: 'clipboard' } })
    assert.equal(seen.length, 1)
  })
})

describe('what was copied on the desktop', () => {
  it('is left out, with its bytes, where anything happened since, and is stamped as of then', async (t) => {
    let now = 1000
    const time = { now: () => now, learn: () => undefined, believes: () => true }
    const member = { id: 'm_0000000000000001', ...time }
    const { inbound, blobs, pushText, latest, counts } = await setUp(t, { member })
    const copy = async (copiedAt: number) => {
      const origin = { kind: 'clipboard', copiedAt } as const
      const blob = await blobs.receive(streamOf(`copied ${copiedAt}`), { maxBytes: 20 })
      const bytes = { kind: 'received', blob, mediaType: 'x/y' } as const
      const result = await inbound.apply({ ...ITEM, origin, type: 'File', dataName: 'a', bytes })
      return result.item?.stamp?.at
    }
    assert.equal(await copy(900), 900)
    await pushText('pushed')
    const files = await counts()
    assert.equal(await copy(999), undefined)
    const peer = { kind: 'peer', stamp: { at: 1100, member: 'm_0000000000000002' } } as const
    await inbound.apply({ ...ITEM, text: 'of another member', origin: { ...peer, deviceId: 'd' } })
    assert.equal(await copy(1050), undefined)
    assert.deepEqual([latest.current?.item.text, await counts()], ['of another member', files])
    now = 5000
    assert.equal(await copy(1200), 1200)
  })
})

describe('what was copied while the clock is behind the current item', () => {
  it('is older than a push that came since, and newer than one that came before', async (t) => {
    const time = { now: () => 1000, learn: () => undefined, believes: () => true }
    const member = { id: 'm_0000000000000001', ...time }
    const { inbound, pushText, latest } = await setUp(t, { member })
    const ahead = { kind: 'peer', stamp: { at: 5000, member: 'm_0000000000000002' } } as const
    await inbound.apply({ ...ITEM, text: 'ahead', origin: { ...ahead, deviceId: 'd' } })
    const noticed = () => inbound.stampNow() ?? 0
    const copiedAt = noticed()
    await pushText('pushed')
    const older = {
      ...ITEM,
      text: 'copied before',
      origin: { kind: 'clipboard', copiedAt },
    } as const
    assert.equal((await inbound.apply(older)).item, undefined)
    const first = noticed()
    const second = noticed()
    for (const at of [first, second]) {
      const origin = { kind: 'clipboard', copiedAt: at } as const
      await inbound.apply({ ...ITEM, text: `copied ${at}`, origin })
    }
    assert.equal(latest.current?.item.text, `copied ${second}`)
    assert.ok(first < second)
  })
})

describe('what is found on the clipboard at a start', () => {
  const found = { ...ITEM, origin: { kind: 'clipboard', mayBeOld: () => true } } as const
  const copied = { ...ITEM, origin: { kind: 'clipboard' } } as const

  it('is left out, with its bytes, where pushes replaced it, however many', async (t) => {
    const { inbound, blobs, pushText, counts, latest } = await setUp(t)
    const copy = async (origin: InboundItem['origin'], content: string) => {
      const blob = await blobs.receive(streamOf(content), { maxBytes: 10 })
      const bytes = { kind: 'received', blob, mediaType: 'image/png' } as const
      const dataName = `${content}.png`
      return inbound.apply({ ...ITEM, origin, type: 'Image', dataName, text: dataName, bytes })
    }
    await copy(copied.origin, 'first')
    await copy(copied.origin, 'copied')
    for (let push = 1; push < 10; push += 1) await pushText(`push ${push}`)
    const [files] = await counts()
    assert.equal((await copy(found.origin, 'copied')).item, undefined)
    assert.equal((await inbound.apply({ ...found, text: 'push 8' })).item, undefined)
    assert.deepEqual([latest.current?.item.text, await counts()], ['push 9', [files, 0]])
    assert.equal((await copy(found.origin, 'first')).item?.dataName, 'first.png')
  })

  it('is the newest where it is what is current, was replaced by a copy, or is new', async (t) => {
    const { inbound, pushText } = await setUp(t)
    assert.equal((await inbound.apply({ ...found, text: 'one' })).item?.text, 'one')
    await pushText('two')
    for (const text of ['two', 'three', 'one', 'two']) {
      assert.equal((await inbound.apply({ ...found, text })).item?.text, text)
    }
    await pushText('four')
    assert.equal((await inbound.apply({ ...found, text: 'two' })).item, undefined)
    const mayBeOld = (current: { readonly text: string }): boolean => current.text === 'newer'
    const foundNow = { ...ITEM, origin: { kind: 'clipboard', mayBeOld } } as const
    assert.equal((await inbound.apply({ ...foundNow, text: 'two' })).item?.text, 'two')
    await pushText('newer')
    assert.equal((await inbound.apply({ ...foundNow, text: 'two' })).item, undefined)
    assert.equal((await inbound.apply({ ...copied, text: 'two' })).item?.text, 'two')
  })
})

describe('applying', () => {
  // Protocol: The requests of one device are applied one at a time
  it('happens in the order of the calls, also when one fails', async (t) => {
    const { pushText, describe, latest } = await setUp(t)
    const missing = describe({ type: 'File', dataName: 'missing' })
    const results = await Promise.allSettled([pushText('one'), missing, pushText('two')])
    const ends = results.map(({ status }) => status)
    assert.deepEqual(ends, ['fulfilled', 'rejected', 'fulfilled'])
    assert.equal(latest.current?.item.text, 'two')
  })

  it('does not fail when a listener does, and tells all others', async (t) => {
    const { changes, seen, logger, pushText } = await setUp(t)
    const later: Change[] = []
    changes.subscribe(() => {
      throw new Error('broken')
    })
    changes.subscribe((change) => later.push(change))
    await pushText('secret')
    assert.equal(later.length, 1)
    assert.deepEqual(later, seen)
    const errors = logger.lines.filter(({ level }) => level === 'error')
    assert.deepEqual(
      errors.map(({ message }) => message),
      ['Cannot tell that the item changed'],
    )
    assert.ok(!logger.text.includes('secret'))
  })

  it('does not fail when an effect does, and says so in the log without content', async (t) => {
    const effects = new EventEmitter()
    const { pushText, inbound, logger } = await setUp(t)
    // One of a host may throw before there is a promise.
    inbound.addEffect(() => {
      throw new Error('at once')
    })
    inbound.addEffect(async () => {
      setImmediate(() => effects.emit('ran'))
      throw new Error('no display')
    })
    // Paths have the names of files.
    inbound.addEffect(async () => void lstatSync('no folder/secret.pdf'))
    await Promise.all([once(effects, 'ran'), pushText('secret')])
    assert.match(logger.text, /no display/)
    assert.match(logger.text, /at once/)
    assert.match(logger.text, /ENOENT/)
    assert.doesNotMatch(logger.text, /secret/)
  })
})

describe('what is to be saved as files', () => {
  /** Saves nothing until it is told to. */
  async function saving(t: TestContext) {
    const daemon = await setUp(t)
    const asked: { readonly name: string; readonly end: (error?: Error) => void }[] = []
    const { inbound, latest, logger, clock, storage } = daemon
    const save = ({ item }: StoredItem): Promise<void> => {
      return new Promise<void>((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error))
        asked.push({ name: item.dataName, end })
      })
    }
    const alone = (work: () => Promise<void>) => inbound.alone(work)
    const saves = new FileSaves({ latest, logger, clock, storage, minFreeBytes: 1000, alone }, save)
    inbound.saveFiles(saves)
    const names = () => daemon.latest.unsaved.map(({ item }) => item.dataName)
    const push = async (name: string, origin: typeof PHONE | typeof OTHER_PHONE = PHONE) => {
      await daemon.stage(name, `bytes of ${name}`, 'x/y', origin.deviceId)
      await daemon.describe({ type: 'File', dataName: name, origin })
    }
    /** Has the save that was asked for last fail, and resolves when that is noted. */
    const fail = async (error: Error): Promise<void> => {
      asked.at(-1)?.end(error)
      while (saves.isBusy) await turnOfEvents()
    }
    const told = () =>
      logger.lines
        .filter(({ message }) => message.startsWith('Cannot save'))
        .map(({ level, message, fields }) => [level, message, fields['reason']])
    return { ...daemon, asked, names, push, saves, alone, fail, told }
  }

  /** A folder that is moved away. */
  const notThere = () => Object.assign(new Error('ENOTDIR'), { code: 'ENOTDIR', syscall: 'open' })

  const full = () => Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })

  /** The next start, whose saves fail or succeed. */
  async function restart(
    { latest, clock, storage, alone }: Awaited<ReturnType<typeof saving>>,
    outcome: () => Promise<void>,
  ) {
    const logger = new CaptureLogger()
    const tried: string[] = []
    const next = new FileSaves(
      { latest, logger, clock, storage, minFreeBytes: 1000, alone },
      async ({ item }) => {
        tried.push(item.dataName)
        await outcome()
      },
    )
    const pass = async (...waits: readonly number[]): Promise<void> => {
      for (const ms of [0, ...waits]) {
        clock.advance(ms)
        while (next.isBusy) await turnOfEvents()
      }
    }
    return { next, tried, logger, pass }
  }

  it('is every file that others send; its bytes stay until it is saved, or has no room', async (t) => {
    const daemon = await saving(t)
    const { push, describe: say, stage, asked, names, counts, inbound, saves, told } = daemon
    await push('one')
    await push('two')
    await stage('a.png', '\x89PNG\r\n\x1a\n', 'image/png')
    await say({ type: 'Image', dataName: 'a.png' })
    await inbound.apply({ ...ITEM, text: 'text' })
    assert.deepEqual(names(), ['one', 'two'])
    assert.equal((await counts())[0], 3)
    asked[0]?.end()
    while (names().length === 2) await turnOfEvents()
    asked[1]?.end(full())
    assert.equal(await saves.end(1000), 0)
    assert.equal((await counts())[0], 1)
    assert.deepEqual(told(), [
      ['error', 'Cannot save what was sent: it is given up', 'ENOSPC (write)'],
    ])
    assert.equal(saves.trouble, '1 item (12 bytes) given up: there is no space left (ENOSPC)')
  })

  it('is told as kept where a full disk has no room to note that it is given up', async (t) => {
    const { latest, push, pushFile, fail, saves, names, logger, asked } = await saving(t)
    await push('one')
    await pushFile('other', 'a picture', { type: 'Image' })
    const { mock } = t.mock.method(latest, 'endSaving', () => Promise.reject(full()))
    await fail(full())
    const reason = '1 item (12 bytes) not saved yet: there is no space left (ENOSPC)'
    assert.deepEqual([names(), saves.trouble], [['one'], reason])
    await assert.rejects(saves.giveUp(), { code: 'ENOSPC' })
    assert.doesNotMatch(logger.text, /it is given up/)
    assert.equal(saves.trouble, reason)
    mock.restore()
    await push('two')
    asked.at(-1)?.end()
    while (asked.length < 3) await turnOfEvents()
    asked.at(-1)?.end()
    while (saves.isBusy) await turnOfEvents()
    assert.deepEqual([names(), saves.trouble], [[], undefined])
  })

  it('is tried again three times, and holds nothing up meanwhile', async (t) => {
    const { push, asked, names, fail, clock, saves, told } = await saving(t)
    await push('one')
    await fail(notThere())
    assert.match(
      saves.trouble ?? '',
      /^1 item \(12 bytes\) not saved yet: part of its path is no folder/,
    )
    for (const ms of [1000, 10_000]) {
      clock.advance(ms - 1)
      const tries = asked.length
      clock.advance(1)
      assert.equal(asked.length, tries + 1)
      await fail(notThere())
    }
    await push('two')
    asked.at(-1)?.end()
    while (saves.isBusy) await turnOfEvents()
    clock.advance(60_000)
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['one', 'one', 'one', 'two', 'one'],
    )
    asked.at(-1)?.end()
    while (saves.isBusy) await turnOfEvents()
    assert.deepEqual([names(), saves.trouble], [[], undefined])
    assert.deepEqual(told(), [
      ['warn', 'Cannot save what was sent: trying again', 'ENOTDIR (open)'],
    ])
  })

  it('waits for the next start after that, which tries as often, and gives it up then', async (t) => {
    const daemon = await saving(t)
    const { push, asked, names, counts, fail, clock, saves } = daemon
    await push('one')
    await fail(notThere())
    for (const ms of [1000, 10_000, 60_000]) {
      clock.advance(ms)
      await fail(notThere())
    }
    clock.advance(1e9)
    assert.deepEqual([asked.length, names(), clock.pending], [4, ['one'], 0])
    await daemon.pushFile('two', 'no file', { type: 'Image' })
    assert.equal(await saves.end(0), 1)
    assert.equal((await counts())[0], 2)

    const { next, tried, logger, pass } = await restart(daemon, () => Promise.reject(notThere()))
    await pass(1000, 10_000)
    assert.deepEqual(names(), ['one'])
    await pass(60_000)
    assert.deepEqual([tried.length, names(), (await counts())[0]], [4, [], 1])
    assert.match(next.trouble ?? '', /^1 item \(12 bytes\) given up: part of its path is no folder/)
    assert.match(logger.text, /Cannot save what was sent: it is given up/)
    assert.doesNotMatch(logger.text, /one/)
  })

  it('is tried again where another one that is being saved has the room', async (t) => {
    const { push, asked, names, clock, saves } = await saving(t)
    for (const name of ['one', 'two', 'three']) await push(name)
    for (const { end } of asked) end(full())
    while (saves.isBusy) await turnOfEvents()
    assert.deepEqual(names(), ['one', 'two'])
    clock.advance(1000)
    for (const { end } of asked.slice(3)) end()
    while (saves.isBusy) await turnOfEvents()
    assert.deepEqual([names(), asked.length], [[], 5])
    assert.match(saves.trouble ?? '', /^1 item \(\d+ bytes\) given up: there is no space left/)
  })

  it('is tried again when another file is saved, one after the other', async (t) => {
    const { push, asked, names, fail, clock, saves } = await saving(t)
    for (const name of ['one', 'two', 'three']) {
      await push(name)
      await fail(notThere())
      for (const ms of [1000, 10_000, 60_000]) {
        clock.advance(ms)
        await fail(notThere())
      }
    }
    /** Ends the last save that was asked for, and resolves when another one was, or none will be. */
    const end = async (error?: Error): Promise<void> => {
      const { length } = asked
      asked.at(-1)?.end(error)
      while (saves.isBusy && asked.length === length) await turnOfEvents()
    }
    const { length } = asked
    await push('four')
    await end()
    await end(notThere())
    assert.deepEqual(names(), ['one', 'two', 'three'])
    await push('five')
    for (let ends = 0; ends < 4; ends += 1) await end()
    const tried = asked.slice(length).map(({ name }) => name)
    assert.deepEqual(tried, ['four', 'one', 'five', 'two', 'three', 'one'])
    assert.deepEqual([names(), saves.trouble], [[], undefined])
  })

  it('does not wait for its next try when the daemon stops: the next start has it', async (t) => {
    const daemon = await saving(t)
    const { push, asked, names, fail, clock, saves } = daemon
    await push('one')
    await fail(notThere())
    assert.equal(await saves.end(60_000), 1)
    clock.advance(1e9)
    assert.deepEqual([asked.length, names(), clock.pending], [1, ['one'], 0])
    const { tried, pass } = await restart(daemon, () => Promise.resolve())
    await pass()
    assert.deepEqual([tried, names()], [['one'], []])
  })

  it('is not kept twice: the same file that comes again takes its place, saved or not', async (t) => {
    const { push, names, counts, fail, clock, asked, saves, pushFile } = await saving(t)
    await push('one')
    await fail(notThere())
    await pushFile('other', 'a picture', { type: 'Image' })
    clock.advance(500)
    await push('one')
    await fail(notThere())
    assert.deepEqual([names(), (await counts())[0]], [['one'], 1])
    await pushFile('other', 'a picture', { type: 'Image' })
    await push('one')
    asked.at(-1)?.end()
    while (saves.isBusy) await turnOfEvents()
    clock.advance(1e6)
    assert.deepEqual([names(), saves.trouble, asked.length], [[], undefined, 3])
  })

  it('is given up, the oldest first, where a hundred wait or too little of the disk is free', async (t) => {
    const daemon = await saving(t)
    const { push, names, fail, storage, saves } = daemon
    const { freeBytes } = storage
    storage.freeBytes = async () => 0
    await push('only')
    await fail(notThere())
    assert.deepEqual(names(), ['only'])
    storage.freeBytes = freeBytes
    for (let index = 0; index < 101; index += 1) {
      await push(`file ${index}`)
      await fail(notThere())
    }
    assert.deepEqual([names().length, names()[0]], [100, 'file 1'])
    assert.match(saves.trouble ?? '', /^100 items \(.*; 2 items \(.*\) given up: too much waits$/)
    storage.freeBytes = async () => 980
    await push('last')
    await fail(notThere())
    assert.deepEqual([names().length, names()[0], names().at(-1)], [99, 'file 3', 'last'])
  })

  it('gives way to more of the same device, and not to those of another one', async (t) => {
    const { push, names, fail, saves } = await saving(t)
    await push('film', OTHER_PHONE)
    await fail(notThere())
    for (let index = 0; index < 101; index += 1) {
      await push(`note ${index}`)
      await fail(notThere())
    }
    assert.deepEqual([names().length, names()[0], names()[1]], [100, 'film', 'note 2'])
    assert.equal(await saves.giveUp(), true)
    assert.deepEqual([names()[0], names()[1]], ['film', 'note 3'])
  })

  it('is bounded while the folder stands still, which is told once', async (t) => {
    const { push, names, asked, clock, saves, told, counts } = await saving(t)
    await push('film', OTHER_PHONE)
    for (let index = 0; index < 105; index += 1) await push(`note ${index}`)
    clock.advance(59_999)
    saves.onStep()
    clock.advance(59_999)
    assert.deepEqual([saves.trouble, saves.bytes], [undefined, 0])
    clock.advance(1)
    assert.match(
      saves.trouble ?? '',
      /^106 items \(.*\) not saved yet: the folder has not answered/,
    )
    const givenUp = async (count: number) => {
      while (!saves.trouble?.includes(`; ${count} items`)) await turnOfEvents()
    }
    await givenUp(6)
    assert.deepEqual(names().slice(0, 2), ['film', 'note 6'])
    for (let index = 105; index < 110; index += 1) await push(`note ${index}`)
    await givenUp(11)
    assert.deepEqual([names()[0], names()[1], names().at(-1)], ['film', 'note 11', 'note 109'])
    assert.equal((await counts())[0], 100)
    assert.match(
      saves.trouble ?? '',
      /^100 items .* not saved yet: .*; 11 items .* given up: too much/,
    )
    assert.deepEqual(
      told().filter(([level]) => level === 'warn'),
      [['warn', 'Cannot save what was sent yet', 'the folder has not answered for a minute']],
    )
    for (const { end } of asked) end()
    while (saves.isBusy) await turnOfEvents()
    assert.deepEqual([names(), saves.trouble], [[], undefined])
  })

  it('gives way to what comes, the oldest first, unless it is current or being saved', async (t) => {
    const { push, names, fail, saves, asked, clock } = await saving(t)
    for (const name of ['one', 'two', 'three']) {
      await push(name)
      await fail(notThere())
    }
    assert.equal(saves.bytes, 24)
    assert.equal(await saves.giveUp(), true)
    assert.deepEqual(names(), ['two', 'three'])
    clock.advance(1000)
    assert.deepEqual([saves.bytes, await saves.giveUp()], [0, false])
    for (const { end } of asked.slice(-2)) end(notThere())
    while (saves.isBusy) await turnOfEvents()
    assert.deepEqual([saves.bytes, await saves.giveUp(), names()], [12, true, ['three']])
    assert.match(saves.trouble ?? '', /2 items \(24 bytes\) given up: its room was needed$/)
  })

  it('is counted when there is no time for it, stays, and is saved at the next start', async (t) => {
    const daemon = await saving(t)
    const { push, asked, names, clock, inbound, saves } = daemon
    await push('one')
    await push('two')
    const ended = saves.end(1000)
    clock.advance(1000)
    assert.equal(await ended, 2)
    // What comes to its end later is nobody's any more.
    asked[0]?.end()
    await push('three')
    await inbound.close()
    assert.deepEqual([names(), asked.length], [['one', 'two', 'three'], 2])

    const { next, tried } = await restart(daemon, () => Promise.resolve())
    assert.equal(await next.end(1000), 0)
    assert.deepEqual(tried, ['one', 'two', 'three'])
  })

  it('is nothing where files are not saved', async (t) => {
    const { pushFile, latest } = await setUp(t)
    await pushFile('one', 'bytes')
    assert.deepEqual(latest.unsaved, [])
  })
})

describe('a document that may name a picture by its MD5', () => {
  const WRONG = 'ab'.repeat(16)

  /** A picture whose reading goes on only when it is let. */
  async function setUpPicture(t: TestContext) {
    const daemon = await setUp(t)
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

  it('keeps nobody else waiting while the picture is read, and has it read once', async (t) => {
    const { inbound, blob, open, reading, askFor, reads, latest } = await setUpPicture(t)
    const begun = once(reading, 'begins')
    const refused = Promise.allSettled(Array.from({ length: 40 }, () => askFor(WRONG)))
    await begun
    await inbound.apply({ ...ITEM, origin: OTHER_PHONE, text: 'from somebody else' })
    assert.equal(latest.current?.item.text, 'from somebody else')

    reading.emit('goes on')
    const codes = (await refused).map((end) => end.status === 'rejected' && end.reason.code)
    assert.deepEqual([...new Set(codes)], ['NOTHING_STAGED'])
    assert.equal(reads(), 1)
    blob.open = open
    await askFor(MD5)
    assert.equal(latest.current?.item.dataName, 'p.png')
  })

  it('means what is there when the picture was read, and not what was there before', async (t) => {
    const { stage, describe, inbound, reading, askFor, latest } = await setUpPicture(t)
    const begun = once(reading, 'begins')
    const asked = askFor(MD5)
    await begun
    // Another device has another picture of that name current before the answer is known.
    await stage('p.png', 'world', 'image/png', 'did_2')
    await describe({ origin: OTHER_PHONE, type: 'Image', dataName: 'p.png' })
    reading.emit('goes on')
    await assert.rejects(asked, { code: 'NOTHING_STAGED' })
    await inbound.apply({ ...ITEM, text: 'and on' })
    assert.equal(latest.binary?.item.contentHash, sha256('world'))
  })
})

for (const change of ['revoke', 'rotate'] as const) {
  describe(`a sender that is shut out by ${change}`, () => {
    /** The pipeline, and the device with each kind of origin that it may have. */
    async function setUpDevice(t: TestContext) {
      const devices = await openTestDevices()
      const { device } = await devices.add({ kind: 'phone' })
      const { id: deviceId, passwordHash } = device
      const stamp = { at: 5, member: 'm_0000000000000001' }
      const origins = [
        { kind: 'device', deviceId, passwordHash },
        { kind: 'peer', deviceId, passwordHash, stamp },
      ] as const
      const daemon = await setUp(t, { devices })
      const { blob } = await daemon.stage('a.txt', 'hello', 'text/plain', deviceId)
      const shutOut = () => {
        // From this tick on, however long the disk takes for a new password.
        devices.isValid = () => false
        return devices[change](deviceId)
      }
      return { ...daemon, blob, devices, origins, shutOut }
    }

    const staged = { dataName: 'a.txt', bytes: { kind: 'staged' } } as const

    it('applies nothing, whatever it had asked for before', async (t) => {
      const { inbound, origins, shutOut, latest, seen, counts } = await setUpDevice(t)
      // Nobody can be sure whose it is.
      await assert.rejects(inbound.apply({ ...ITEM, text: 'before' }), { code: 'CREDENTIAL_GONE' })
      await inbound.apply({ ...ITEM, origin: origins[0], text: 'before' })
      const applied = origins.flatMap((origin) => [
        inbound.apply({ ...ITEM, origin, text: 'after' }),
        inbound.apply({ ...ITEM, origin, type: 'File', ...staged }),
        inbound.apply({ ...ITEM, origin, text: 'before', hash: 'ab' }),
      ])
      const refused = Promise.all(
        applied.map((promise) => assert.rejects(promise, { code: 'CREDENTIAL_GONE' })),
      )
      await shutOut()
      await refused
      assert.deepEqual([latest.current?.item.text, seen.length], ['before', 1])
      assert.deepEqual(await counts(), [1, 1])
    })

    it('applies nothing when it happens while its bytes are looked at', async (t) => {
      const { inbound, origins, shutOut, latest, counts, blob } = await setUpDevice(t)
      const open = blob.open.bind(blob)
      blob.open = async () => {
        await shutOut()
        return open()
      }
      const text = { ...ITEM, origin: origins[0], ...staged }
      await assert.rejects(inbound.apply(text), { code: 'CREDENTIAL_GONE' })
      assert.equal(latest.current, undefined)
      assert.deepEqual(await counts(), [1, 1])
    })

    it('is done while its bytes are still on their way to the disk', async (t) => {
      const { inbound, origins, devices, shutOut, latest, counts } = await setUpDevice(t)
      devices.onCredentialGone((deviceId) => inbound.shutOut(deviceId))
      const syncing = defer<void>()
      latest.prepare = () => {
        syncing.resolve()
        return new Promise(() => {})
      }
      const film = { ...ITEM, type: 'File', origin: origins[0], ...staged } as const
      const refused = assert.rejects(inbound.apply(film), { code: 'CREDENTIAL_GONE' })
      await syncing.promise
      await shutOut()
      await refused
      assert.equal(latest.current, undefined)
      assert.deepEqual(await counts(), [1, 1])
    })
  })
}
