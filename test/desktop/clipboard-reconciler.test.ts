import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Blob } from '../../src/ports/blob.ts'
import type { CopyLimits, LeftOut } from '../../src/desktop/read-copy.ts'
import type { CopiedContent, OfferedContent } from '../../src/ports/system-clipboard.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import type { FakeSystemClipboard } from '../support/fake-system-clipboard.ts'
import { Mailbox } from '../support/mailbox.ts'
import {
  done,
  openFake,
  pauseThatEnded,
  text,
  watchedPause,
  type OpenOptions,
} from './support/open-reconciler.ts'
import { NEVER_PAUSED } from '../../src/desktop/clipboard-pause.ts'
import { blobOf } from '../support/memory-blob.ts'
import { watched } from './x11/support/watched-blob.ts'

/** The clipboard of a system, and of the daemon over it. */
async function open(limits: Partial<CopyLimits> = {}) {
  const leftOut: LeftOut[] = []
  const onLeftOut = (left: LeftOut) => void leftOut.push(left)
  return { ...(await openFake({ limits: { onLeftOut, ...limits } })), leftOut }
}

/** Lets nothing be read until the test says so. */
function holdReads(system: FakeSystemClipboard): () => void {
  const held = defer<void>()
  const read = system.read.bind(system)
  system.read = async () => {
    await held.promise
    return read()
  }
  return () => held.resolve()
}

const IS_OVER = { isOver: true }

const files = (...paths: string[]) => ({ kind: 'files', paths }) as const

async function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../fixtures/images/${name}`, import.meta.url))
}

async function copied(name: string): Promise<CopiedContent> {
  return { kind: 'image', mediaType: mediaTypeOf(name), bytes: await sample(name) }
}

async function offered(name: string): Promise<OfferedContent & { readonly kind: 'image' }> {
  const bytes = await sample(name)
  return { kind: 'image', mediaType: mediaTypeOf(name), blob: await blobOf(bytes) }
}

function mediaTypeOf(name: string): string {
  const types: Record<string, string> = { jpg: 'jpeg', tif: 'tiff' }
  const extension = name.split('.').at(-1) ?? ''
  return `image/${types[extension] ?? extension}`
}

/** The beginning of a picture, in which its size is. */
function gifOf(width: number, height: number): CopiedContent {
  const bytes = Buffer.from('GIF89a'.padEnd(32, '\0'))
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return { kind: 'image', mediaType: 'image/gif', bytes }
}

/** Whether `copy` is taken for an echo of `offer`: it is either passed on or recognised. */
async function isEcho(offer: OfferedContent, copy: CopiedContent, laterMs = 0): Promise<boolean> {
  const { clipboard, system, copies, clock, logger } = await open()
  await clipboard.offer(offer)
  clock.advance(laterMs)
  system.copy(copy)
  const hasEcho = () => logger.lines.some(({ message }) => message === 'What was written came back')
  while (copies.size === 0 && !hasEcho()) await done()
  assert.notEqual(copies.size > 0, hasEcho(), 'either of the two')
  await clipboard.close()
  return hasEcho()
}

describe('what comes back to the clipboard', () => {
  it('recognises a text whatever its line ends and the NULs behind it', async () => {
    for (const [written, read] of [
      ['a\nb\n', 'a\r\nb\r\n'],
      ['a\r\nb', 'a\nb'],
      ['a', 'a\0\0'],
      ['a\ud800', 'a\ufffd'],
    ] as const) {
      assert.equal(await isEcho(text(written), text(read)), true, JSON.stringify(read))
    }
    for (const other of ['a ', 'a\n', 'A', 'b', '\0a']) {
      assert.equal(await isEcho(text('a'), text(other)), false, JSON.stringify(other))
    }
  })

  it('takes every other text for a copy', () =>
    forAllAsync(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (a, b) => {
      const plain = (value: string) => value.replace(/\r\n?/g, '\n').replace(/\0+$/, '')
      // No adapter hands a text on that is empty without the NULs at its end.
      fc.pre(plain(b) !== '')
      assert.equal(await isEcho(text(a), text(b)), plain(a) === plain(b))
    }))

  it('recognises files, also as the text that they are offered as', async () => {
    const written = files('/r/a b', '/r/\u00e9')
    assert.equal(await isEcho(written, files('/r/a b', '/r/e\u0301')), true)
    assert.equal(await isEcho(written, text('/r/a b\n/r/\u00e9')), true)
    assert.equal(await isEcho(written, text('file:///r/a%20b\r\nfile:///r/%C3%A9\r\n')), true)
    assert.equal(await isEcho(written, files('/r/a b')), false)
    assert.equal(await isEcho(written, text('/r/a b')), false)
    assert.equal(await isEcho(text('/r/a b'), files('/r/a b')), false)
  })

  it('recognises an image as the file that it was pasted as, and no other file', async () => {
    const image = await offered('rgb.jpg')
    const save = async () => '/r/a.jpg'
    const [saved, unsaved] = ['/r/a.jpg', undefined].map((path) => ({
      ...image,
      file: { path, save },
    }))
    assert.ok(saved !== undefined && unsaved !== undefined)
    assert.equal(await isEcho(saved, files('/r/a.jpg')), true)
    assert.equal(await isEcho(saved, files('/r/a.jpg', '/r/b.jpg')), false)
    assert.equal(await isEcho(unsaved, files('/r/a.jpg')), false)
  })

  it('recognises an image that was converted to another format, for five seconds', async () => {
    for (const [from, to] of [
      ['rgb.jpg', 'rgb.png'],
      ['rgb.png', 'rgb.webp'],
      ['rgba.png', 'rgba-lzw.tif'],
      ['rgba.png', 'rgba.bmp'],
    ] as const) {
      assert.equal(await isEcho(await offered(from), await copied(to), 5000), true, to)
      assert.equal(await isEcho(await offered(from), await copied(to), 5001), false, to)
    }
    const jpeg = await offered('rgb.jpg')
    assert.equal(await isEcho(jpeg, gifOf(29, 37), 5000), true, 'turned by a quarter')
    assert.equal(await isEcho(jpeg, gifOf(29, 38), 5000), false, 'of another size')
    assert.equal(await isEcho(jpeg, await copied('rgb.jpg'), 3_600_000), true, 'the same bytes')
  })

  it('takes an image of another size, or another image of that format, for a copy', async () => {
    const small = { kind: 'image', mediaType: 'image/png', bytes: TINY_PNG } as const
    assert.equal(await isEcho(await offered('rgb.jpg'), small), false)
    assert.equal(await isEcho(await offered('rgb.png'), small), false)
    assert.equal(await isEcho(await offered('rgb.jpg'), await copied('rgb-progressive.jpg')), false)
    assert.equal(await isEcho(await offered('rgb.png'), await copied('grey.png')), false)
    const damaged = (await sample('rgb.png')).subarray(0, 1000)
    const copy = { kind: 'image', mediaType: 'image/png', bytes: damaged } as const
    assert.equal(await isEcho(await offered('rgb.png'), copy), false)
  })

  it('recognises a converted photo by its bytes as long as it is what was written last', async () => {
    const { clipboard, system, copies, clock, logger } = await open()
    await clipboard.offer(await offered('rgb.jpg'))
    for (const laterMs of [1000, 3_600_000]) {
      const seen = logger.lines.length
      const isDone = () => logger.lines.length > seen || copies.size > 0
      clock.advance(laterMs)
      system.copy(await copied('rgb.png'))
      while (!isDone()) await done()
      assert.equal(copies.size, 0)
    }
  })

  it('shares an image when what was written cannot be read any more', async () => {
    const open: Blob['open'] = () => Promise.reject(new Error('It is gone'))
    const gone: Blob = { size: 1000, open }
    const offer = { kind: 'image', mediaType: 'image/png', blob: gone } as const
    assert.equal(await isEcho(offer, await copied('rgb.png')), false)
  })

  it('recognises an image whose bytes have been given up by their hash', async () => {
    const open: Blob['open'] = () => Promise.reject(new Error('It is gone'))
    const bytes = await sample('rgb.png')
    const other = {
      kind: 'image',
      mediaType: 'image/png',
      bytes: Buffer.from(bytes).fill(0),
    } as const
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const blob = { size: bytes.length, open, digests: { sha256, blake3: '' } }
    const offer = { kind: 'image', mediaType: 'image/png', blob } as const
    assert.equal(await isEcho(offer, await copied('rgb.png')), true)
    assert.equal(await isEcho(offer, other), false)
  })

  it('takes what was pushed for a copy again once anything else was copied', async () => {
    const { clipboard, system, copies } = await open()
    await clipboard.offer(text('pushed'))
    system.copy(text('pushed'))
    for (const value of ['other', 'pushed']) {
      system.copy(text(value))
      assert.deepEqual(await copies.next(), text(value))
    }
  })

  it('recognises what it wrote before as long as the next write is under way, and then no more', async () => {
    const { clipboard, system, copies } = await open()
    await clipboard.offer(text('one'))
    const writing = clipboard.offer(text('two'))
    system.copy(text('one'))
    assert.equal(copies.size, 0)
    await writing
    system.copy(text('one'))
    assert.deepEqual(await copies.next(), text('one'))
  })

  it('recognises it, too, when the reading ends after that write', async () => {
    const { clipboard, system, copies, logger } = await open()
    await clipboard.offer(text('one'))
    const [asked, written, read] = [new Mailbox(), defer<void>(), defer<CopiedContent>()]
    system.write = () => {
      asked.put('write')
      return written.promise
    }
    system.read = () => {
      asked.put('read')
      return read.promise
    }
    const writing = clipboard.offer(text('two'))
    assert.equal(await asked.next(), 'write')
    system.copy(text('one'))
    assert.equal(await asked.next(), 'read')
    written.resolve()
    await writing
    read.resolve(text('one'))
    while (!logger.text.includes('came back')) {
      assert.equal(copies.size, 0, 'it was shared')
      await done()
    }
  })

  it('keeps no copy waiting behind thousands that it has overtaken', async () => {
    const { system, copies } = await open()
    const read = system.read.bind(system)
    const first = defer<undefined>()
    const reads = [first.promise]
    system.read = () => reads.shift() ?? read()
    for (let n = 0; n < 5000; n += 1) system.copy(text(`copy ${n}`))
    first.resolve(undefined)
    // Steps of promises, of which each reading that waits takes some.
    for (let step = 0; step < 100; step += 1) await undefined
    assert.equal(copies.size, 1)
    assert.deepEqual(await copies.next(), text('copy 4999'))
  })

  it('shares no image that was overtaken while it was compared', async () => {
    const { clipboard, system, copies } = await open()
    await clipboard.offer(await offered('rgb.png'))
    system.copy(gifOf(9, 9))
    system.copy(text('newer'))
    assert.deepEqual(await copies.next(), text('newer'))
    const { blob, closed } = watched(await sample('rgb.png'))
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
    system.copy(gifOf(9, 9))
    await clipboard.offer(text('pushed'))
    await closed
    await done()
    assert.equal(copies.size, 0)
  })
})

describe('what can be pasted better when it was converted', () => {
  /** A push whose conversion ends when the test says so. */
  async function openConverting(options: OpenOptions = {}) {
    const opened = await openFake(options)
    const begun = new Mailbox<AbortSignal>()
    const converted = defer<OfferedContent | Error>()
    opened.system.convert = async (content, signal) => {
      if (content.kind !== 'text' || content.text !== 'photo') return undefined
      begun.put(signal)
      const result = await converted.promise
      if (result instanceof Error) throw result
      return result
    }
    await opened.clipboard.offer(text('photo'))
    const signal = await begun.next()
    assert.deepEqual(opened.system.offered, text('photo'), 'it is there at once')
    const finish = async (result: OfferedContent | Error = text('better')) => {
      converted.resolve(result)
      await done()
    }
    return { ...opened, signal, finish }
  }

  it('takes the place of what was pushed, and is no copy', async () => {
    const { system, copies, finish, signal } = await openConverting()
    await finish()
    assert.deepEqual([system.offered, system.writes.size], [text('better'), 2])
    system.copy(text('better'))
    await done()
    assert.equal(copies.size, 0)
    assert.equal(signal.aborted, true, 'and nothing waits for it')
  })

  it('keeps no newer push waiting, and does not take its place', async () => {
    const { clipboard, system, finish, signal } = await openConverting()
    await clipboard.offer(text('newer'))
    assert.deepEqual([system.offered, signal.aborted], [text('newer'), true])
    await finish()
    assert.deepEqual(system.offered, text('newer'))
  })

  it('does not take the place of what somebody copied, is copying or has cleared', async () => {
    for (const change of ['copied', 'copying', 'cleared', 'closed'] as const) {
      const { clipboard, system, copies, finish } = await openConverting()
      if (change === 'cleared') system.clear()
      else if (change === 'closed') await clipboard.close()
      else system.copy(text('newer'))
      if (change === 'copied') await copies.next()
      await finish()
      assert.equal(system.offered, undefined, change)
      assert.equal(system.writes.size, 1, change)
    }
  })

  it('waits for the end of a pause, as every push', async () => {
    const { state, pause } = watchedPause(false)
    const { clipboard, system, finish } = await openConverting({ pause })
    state.isOn = true
    await finish()
    assert.deepEqual(system.offered, text('photo'))
    state.isOn = false
    system.setTrouble(undefined)
    await done()
    assert.deepEqual(system.offered, text('better'))
    await clipboard.close()
  })

  it('is done without when it cannot be made', async () => {
    const { system, logger, finish } = await openConverting()
    await finish(new Error('It is damaged'))
    assert.deepEqual(system.offered, text('photo'))
    assert.match(logger.text, /Cannot convert what was pushed/)
  })
})

describe('the limits of what is shared', () => {
  it('says that a copy is too large, until the next one that is not', async () => {
    const { system, copies, troubles } = await open({ maxTextBytes: 3, maxImageBytes: 2048 })
    system.copy(text('\u00e9\u00e9'))
    const tooLong = /larger than 3 bytes: not shared \(text, at least 4 bytes\)/
    assert.match(String(await troubles.next()), tooLong)
    system.copy({ kind: 'image', mediaType: 'image/png', bytes: new Uint8Array(3000) })
    await troubles.next()
    const tooLarge = /larger than 2 KiB: not shared \(image, at least 2.9 KiB\)/
    assert.match(String(await troubles.next()), tooLarge)
    system.copy(text('abc'))
    assert.deepEqual(await copies.next(), text('abc'))
    assert.deepEqual([await troubles.next(), troubles.size], [IS_OVER, 0])
  })

  it('says so until something is pushed', async () => {
    const { clipboard, system, troubles } = await open({ maxTextBytes: 3 })
    system.copy(text('long'))
    assert.match(String(await troubles.next()), /larger/)
    await clipboard.offer(text('pushed'))
    assert.deepEqual([await troubles.next(), troubles.size], [IS_OVER, 0])
  })

  it('shares only the kinds that it is told to, and says which ones it left out', async () => {
    const { system, copies, troubles, leftOut } = await open({ types: ['image'] })
    for (const copy of [text('four'), files('/a'), await copied('rgb.png')]) {
      system.copy(copy)
      await done()
    }
    assert.equal((await copies.next()).kind, 'image')
    assert.deepEqual(leftOut, [
      { kind: 'text', size: 4 },
      { kind: 'files', size: undefined },
    ])
    assert.equal(troubles.size, 0)
  })
})

describe('a loop on the clipboard', () => {
  type Opened = Awaited<ReturnType<typeof open>>

  /** @returns What is wrong when it ends. */
  async function loop({ clipboard, system, copies, troubles }: Opened): Promise<string> {
    for (let round = 1; round < 20; round += 1) {
      await clipboard.offer(text(`${round}`))
      if (troubles.size > 0) {
        assert.equal(round, 4)
        return String(await troubles.next())
      }
      system.copy(text(`${round}+`))
      assert.deepEqual(await copies.next(), text(`${round}+`))
    }
    throw new Error('The loop goes on')
  }

  it('stops writing, for longer and longer, and says so once each time', async () => {
    const opened = await open()
    const { clock, troubles } = opened
    for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
      assert.match(await loop(opened), new RegExp(`for ${seconds} s$`))
      await opened.clipboard.dropWaiting()
      clock.advance(1000 * seconds - 1)
      assert.equal(troubles.size, 0)
      clock.advance(1)
      assert.deepEqual(await troubles.next(), IS_OVER)
    }
    clock.advance(600_001)
    assert.match(await loop(opened), /for 30 s$/)
  })

  it('writes the newest push afterwards', async () => {
    const opened = await open()
    const { clipboard, system, clock } = opened
    await loop(opened)
    for (const value of ['one', 'two']) await clipboard.offer(text(value))
    assert.equal(system.offered, undefined)
    clock.advance(30_000)
    await done()
    assert.deepEqual(system.offered, text('two'))
  })

  it('does not write over what was copied meanwhile, even if that is not shared', async () => {
    for (const copy of [text('copied'), files('/too')]) {
      const opened = await open({ types: ['text'] })
      const { clipboard, system, clock, copies } = opened
      await loop(opened)
      await clipboard.offer(text('pushed'))
      system.copy(copy)
      await done()
      clock.advance(30_000)
      await done()
      assert.equal(system.offered, undefined)
      assert.equal(copies.size, copy.kind === 'text' ? 1 : 0)
    }
  })

  it('logs that what had to wait cannot be written', async () => {
    const opened = await open()
    const { clipboard, system, clock, logger } = opened
    await loop(opened)
    await clipboard.offer(text('pushed'))
    system.setTrouble('away')
    clock.advance(30_000)
    await done()
    assert.match(logger.text, /Cannot put on the clipboard what had to wait/)
  })

  it('ends quietly when it is closed meanwhile', async () => {
    const opened = await open()
    const { clipboard, clock, troubles } = opened
    await loop(opened)
    await clipboard.offer(text('pushed'))
    await clipboard.close()
    clock.advance(30_000)
    assert.equal(troubles.size, 0)
    assert.equal(clock.pending, 0)
  })
})

describe('what a device pushed', () => {
  it('is not offered any more when something newer came while its file was saved', async () => {
    const { clipboard, system } = await open()
    let save: (content: OfferedContent) => void = () => undefined
    const file = clipboard.offer(new Promise((resolve) => (save = resolve)))
    await clipboard.offer(text('newer'))
    save(files('/received/a'))
    await file
    assert.deepEqual([await system.writes.next(), system.writes.size], [text('newer'), 0])
  })

  it('is not offered over what was copied on the desktop while its file was saved', async () => {
    for (const isShared of [true, false]) {
      const { clipboard, system } = await open({ types: isShared ? ['text'] : [] })
      let save: (content: OfferedContent) => void = () => undefined
      const file = clipboard.offer(new Promise((resolve) => (save = resolve)))
      system.copy(text('mine'))
      await done()
      save(files('/received/a'))
      await file
      assert.equal(system.writes.size, 0)
    }
  })

  it('is not offered once something that was copied before is the newest item', async () => {
    const { clipboard, system } = await open()
    system.setTrouble('away')
    await assert.rejects(clipboard.offer(text('pushed')), /away/)
    await clipboard.dropWaiting()
    system.setTrouble(undefined)
    await done()
    assert.equal(system.writes.size, 0)
  })

  it('that was written over a copy gives way to that once it is the newest item', async () => {
    const { clipboard, system, copies } = await open()
    system.copy(text('copied'))
    const copied = await copies.next()
    assert.deepEqual(copied, text('copied'))
    await clipboard.offer(text('pushed while the copy was shared'))
    await clipboard.dropWaiting(text('copied'))
    assert.deepEqual(system.offered, text('copied'))
    // Nothing is written where the copy still is.
    system.copy(text('copied next'))
    await copies.next()
    await clipboard.dropWaiting(text('copied next'))
    assert.equal(system.writes.size, 2)
  })

  it('that was written over a copy gives way to that also while the file of another push is saved', async () => {
    const { clipboard, system, copies } = await open()
    system.copy(text('copied'))
    await copies.next()
    await clipboard.offer(text('pushed while the copy was shared'))
    const saved = defer<OfferedContent>()
    const pushed = clipboard.offer(saved.promise)
    await clipboard.dropWaiting(text('copied'))
    saved.resolve(files('/received/a'))
    await pushed
    assert.deepEqual(system.offered, text('copied'))
  })

  it('that is being written when a copy is read gives way to that, too', async () => {
    const { clipboard, system, copies } = await open()
    const writing = defer<void>()
    const write = system.write.bind(system)
    system.write = async (content) => {
      await writing.promise
      await write(content)
    }
    const pushed = clipboard.offer(text('pushed'))
    await done()
    system.copy(text('copied'))
    await copies.next()
    writing.resolve()
    await pushed
    assert.deepEqual(system.offered, text('pushed'))
    // The system does not tell whose that is.
    system.copy(text('pushed'))
    await done()
    assert.equal(copies.size, 0)
    await clipboard.dropWaiting(text('copied'))
    assert.deepEqual(system.offered, text('copied'))
  })

  it('gives way to no older copy while a newer one is read', async () => {
    const { clipboard, system, copies, clock } = await open()
    system.copy(text('copied'))
    await copies.next()
    await clipboard.offer(text('pushed while the copy was shared'))
    clock.advance(1)
    const release = holdReads(system)
    system.copy(text('copied next'))
    await done()
    await clipboard.dropWaiting(text('copied'))
    release()
    assert.deepEqual(await copies.next(), text('copied next'))
    assert.equal(system.writes.size, 1)
  })

  it('of another member gives way to a later copy that is read when it comes', async () => {
    // The clocks of a group are those of its members, and this one may be behind.
    const clock = new FakeClock()
    const now = () => clock.now() + 5000
    for (const at of [-1, 1]) {
      const { clipboard, system, copies } = await openFake({ clock, now })
      const release = holdReads(system)
      system.copy(text('copied'))
      await done()
      await clipboard.offer(text('came'), now() + at)
      release()
      if (at < 0) assert.deepEqual(await copies.next(), text('copied'))
      await done()
      assert.equal(copies.size, 0)
      assert.deepEqual(system.writes.size, at < 0 ? 0 : 1)
      await clipboard.close()
    }
  })

  it('of another member is not written over a later copy, also while that is hashed or is not shared', async () => {
    for (const types of [['text'], []] as const) {
      const { clipboard, system, clock } = await open({ types })
      system.copy(text('copied'))
      await done()
      await clipboard.offer(text('came'), clock.now() - 1)
      system.setTrouble(undefined)
      await done()
      assert.equal(system.writes.size, 0)
      system.clear()
      await clipboard.offer(text('came when that was gone'), clock.now() - 1)
      assert.deepEqual(await system.writes.next(), text('came when that was gone'))
    }
  })

  it('before the start gives way to a copy that is found then, while that is read', async () => {
    for (const at of [-1, 1]) {
      const { clipboard, system, copies, clock } = await open()
      const startedAt = clock.now()
      clock.advance(5)
      const release = holdReads(system)
      system.copy(text('found'), 'found')
      await done()
      await clipboard.offer(text('came'), startedAt + at)
      release()
      if (at < 0) assert.deepEqual(await copies.next(), text('found'))
      await done()
      assert.deepEqual([copies.size, system.writes.size], [0, at < 0 ? 0 : 1])
    }
  })

  it('after a copy stays while that is read, and its file is saved', async () => {
    const { clipboard, system, copies, clock } = await open()
    const release = holdReads(system)
    system.copy(text('copied'))
    await done()
    clock.advance(1)
    const saved = defer<OfferedContent>()
    const pushed = clipboard.offer(saved.promise)
    release()
    await done()
    assert.equal(copies.size, 0)
    saved.resolve(files('/received/a'))
    await pushed
    assert.deepEqual(await system.writes.next(), files('/received/a'))
    system.copy(files('/received/a'))
    await done()
    assert.equal(copies.size, 0)
  })

  it('of another member is written once what is read turns out to be no copy', async () => {
    const { clipboard, system, copies, clock } = await open()
    await clipboard.offer(text('written'))
    await system.writes.next()
    const release = holdReads(system)
    system.copy(text('written'))
    await done()
    await clipboard.offer(text('came'), clock.now() - 1)
    assert.equal(system.writes.size, 0)
    release()
    assert.deepEqual(await system.writes.next(), text('came'))
    assert.equal(copies.size, 0)
  })

  it('is offered when the clipboard is back, and not twice', async () => {
    const { clipboard, system } = await open()
    system.setTrouble('away')
    await assert.rejects(clipboard.offer(text('pushed')), /away/)
    for (const message of [undefined, 'away', undefined]) system.setTrouble(message)
    await done()
    assert.deepEqual([await system.writes.next(), system.writes.size], [text('pushed'), 0])
  })
})

describe('what was current before the start', () => {
  const openBefore = (content: OfferedContent | undefined, pause = NEVER_PAUSED) =>
    openFake({ before: async () => content, pause })

  it('is offered where the clipboard is empty, once, and is no copy when it comes back', async () => {
    const { clipboard, system, copies } = await openBefore(text('before'))
    await done()
    assert.equal(system.writes.size, 0, 'nobody knows yet')
    system.clear()
    assert.deepEqual(await system.writes.next(), text('before'))
    system.copy(text('before'))
    await done()
    assert.equal(copies.size, 0)
    system.copy(text('other'))
    system.clear()
    await done()
    assert.equal(system.writes.size, 0)
    await clipboard.close()
  })

  it('gives way to all that is found or copied, also when that is not shared or goes away', async () => {
    for (const pause of [NEVER_PAUSED, pauseThatEnded()]) {
      for (const owner of ['found', 'another'] as const) {
        for (const copied of [text('found'), text('')]) {
          const { clipboard, system } = await openBefore(text('before'), pause)
          system.copy(copied, owner)
          await done()
          system.clear()
          await done()
          assert.equal(system.writes.size, 0)
          await clipboard.close()
        }
      }
    }
  })

  it('takes the place of what is found and turns out to be older, unless anything newer comes', async () => {
    const found = new Mailbox<(isOlder: boolean) => void>()
    const before = async () => text('before')
    for (const newer of ['nothing', 'cleared', 'copy', 'push'] as const) {
      const { clipboard, system } = await openFake({
        before,
        onFound: (onJudged) => found.put(onJudged),
      })
      system.copy(text('found'), 'found')
      const onJudged = await found.next()
      if (newer === 'cleared') system.clear()
      if (newer === 'copy') system.copy(text('newer'))
      if (newer === 'push') await clipboard.offer(text('newer'))
      onJudged(true)
      await done()
      const expected = newer === 'nothing' || newer === 'cleared' ? 'before' : 'newer'
      assert.deepEqual(await system.paste(), text(expected))
      await clipboard.close()
    }
  })

  it('takes the place of what another program kept of it after a crash, and of nothing else', async () => {
    const files = { kind: 'files', paths: ['/received/a.bin'] } as const
    const before = async () => files
    for (const wasCutOff of [true, false]) {
      for (const found of ['/received/a.bin', '/received/b.bin']) {
        const { clipboard, system, copies } = await openFake({ before, wasCutOff })
        system.copy(text(found), 'found')
        await done()
        const isKept = wasCutOff && found.endsWith('a.bin')
        assert.deepEqual([copies.size, system.writes.size], isKept ? [0, 1] : [1, 0], found)
        assert.deepEqual(await system.paste(), isKept ? files : text(found))
        await clipboard.close()
      }
    }
  })

  it('is what has become current since, where that came while the older copy was read', async () => {
    const found = new Mailbox<(isOlder: boolean) => void>()
    const [saved, read] = [defer<OfferedContent>(), defer<CopiedContent>()]
    const before = async () => text('newer')
    const opened = await openFake({ before, onFound: (onJudged) => found.put(onJudged) })
    const { clipboard, system } = opened
    system.read = () => read.promise
    system.copy(text('found'), 'found')
    const offered = clipboard.offer(saved.promise)
    read.resolve(text('found'))
    const onJudged = await found.next()
    saved.resolve(text('newer'))
    await offered
    onJudged(true)
    assert.deepEqual(await system.writes.next(), text('newer'))
    await clipboard.close()
  })

  it('takes the place of what is found to be older also where the clipboard was away', async () => {
    const found = new Mailbox<(isOlder: boolean) => void>()
    const before = async () => text('newer')
    const opened = await openFake({ before, onFound: (onJudged) => found.put(onJudged) })
    const { clipboard, system } = opened
    system.copy(text('older'))
    await done()
    system.setTrouble('away')
    await assert.rejects(clipboard.offer(text('newer')), /away/)
    system.copy(text('older'), 'found')
    const onJudged = await found.next()
    onJudged(true)
    system.setTrouble(undefined)
    assert.deepEqual(await system.writes.next(), text('newer'))
    await clipboard.close()
  })

  it('is missing on the clipboard where it cannot be had or written', async () => {
    const found = new Mailbox<(isOlder: boolean) => void>()
    const before = async () => undefined
    const opened = await openFake({ before, onFound: (onJudged) => found.put(onJudged) })
    const { clipboard, system } = opened
    assert.equal(clipboard.isBehind, false, 'nothing is known')
    system.copy(text('older'), 'found')
    const judge = await found.next()
    assert.equal(clipboard.isBehind, true, 'something newer may have come')
    judge(true)
    await done()
    assert.equal(clipboard.isBehind, true, 'it cannot be had')
    for (const seen of ['current already', 'cleared'] as const) {
      const again = await openFake({ before, onFound: (onJudged) => found.put(onJudged) })
      if (seen === 'cleared') again.system.clear()
      else {
        again.system.copy(text('current'), 'found')
        const onJudged = await found.next()
        onJudged(false)
      }
      await done()
      assert.equal(again.clipboard.isBehind, false, seen)
      await again.clipboard.close()
    }
    await clipboard.offer(text('pushed'))
    assert.equal(clipboard.isBehind, false)
    await assert.rejects(clipboard.offer(Promise.reject(new Error('The folder is full'))))
    assert.equal(clipboard.isBehind, true, 'it cannot be saved')
    system.copy(text('a copy'))
    await done()
    assert.equal(clipboard.isBehind, false)
    system.write = async () => {
      throw new Error('There is no room')
    }
    await assert.rejects(clipboard.offer(text('pushed')))
    assert.equal(clipboard.isBehind, true, 'it cannot be written')
    await clipboard.close()
  })

  it('gives way to what is pushed, or becomes current, before the clipboard is there', async () => {
    const pushed = await openBefore(text('before'))
    await pushed.clipboard.offer(text('newer'))
    pushed.system.clear()
    await done()
    assert.deepEqual(
      [await pushed.system.writes.next(), pushed.system.writes.size],
      [text('newer'), 0],
    )
    const { clipboard, system } = await openBefore(text('before'))
    await clipboard.dropWaiting()
    system.clear()
    await done()
    assert.equal(system.writes.size, 0)
  })

  it('gives way to a copy that is made, or being read, while it is looked for', async () => {
    for (const isRead of [true, false]) {
      const [found, read] = [defer<OfferedContent>(), defer<CopiedContent>()]
      const { system, copies } = await openFake({ before: () => found.promise })
      system.read = () => read.promise
      system.clear()
      system.copy(text('copied'))
      if (isRead) read.resolve(text('copied'))
      await done()
      found.resolve(text('before'))
      await done()
      read.resolve(text('copied'))
      assert.deepEqual(await copies.next(), text('copied'))
      await done()
      assert.equal(system.writes.size, 0)
    }
  })

  it('is left out when it is not there any more, and the log says when it cannot be had', async () => {
    const none = await openBefore(undefined)
    none.system.clear()
    await done()
    assert.deepEqual([none.system.writes.size, none.logger.text], [0, ''])
    const failed = await openFake({ before: () => Promise.reject(new Error('on fire')) })
    failed.system.clear()
    await done()
    assert.match(failed.logger.text, /Cannot offer what was current before.*on fire/)
  })
})

/** One pixel. */
const TINY_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)
