import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MAX_PAUSE_MS } from '../../src/core/limits.ts'
import { ClipboardPause } from '../../src/desktop/clipboard-pause.ts'
import type { OfferedContent } from '../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { done, openFake, text } from './support/open-reconciler.ts'

const MINUTE = 60_000

const OVER = '{"untilMs":0,"changedOn":[]}\n'

interface Parts {
  /** What was current before the start, after which the clipboard is empty, unless it is `found`. */
  readonly before?: string
  readonly found?: string
  readonly file?: MemoryPrivateFile
  readonly clock?: FakeClock
  readonly desktop?: string
}

/** A pause, and a clipboard that it keeps, as the daemon has them. */
async function open(parts: Parts = {}) {
  const { file = new MemoryPrivateFile(), clock = new FakeClock(), desktop = ':1' } = parts
  const logger = new CaptureLogger()
  const pause = await ClipboardPause.open({ file, clock, logger, desktop })
  const before = async () => (parts.before === undefined ? undefined : text(parts.before))
  const { clipboard, copies, system, ...fake } = await openFake({ clock, pause, before })
  if (parts.found !== undefined) system.copy(text(parts.found), 'found')
  else if (parts.before !== undefined) system.clear()
  const push = (value: string) => clipboard.offer(text(value))
  const copy = (value: string): void => system.copy(text(value))
  /** Whether what is found on the clipboard is shared. */
  const isShared = async (): Promise<boolean> => {
    system.copy(text('found'), 'found')
    await done()
    const isHeldBack = fake.logger.text.includes('may have been copied during a pause')
    assert.equal(copies.size > 0, !isHeldBack, 'either of the two')
    return copies.size > 0
  }
  return { pause, clipboard, file, clock, logger, system, copies, push, copy, isShared }
}

async function openPaused() {
  const opened = await open()
  await opened.pause.begin(undefined)
  return opened
}

describe('a pause', () => {
  it('keeps copies unread, and does not share them afterwards', async () => {
    const { pause, copy, copies } = await open()
    copy('before')
    assert.deepEqual(await copies.next(), text('before'))
    await pause.begin(undefined)
    copy('private')
    await pause.end()
    copy('after')
    assert.deepEqual(await copies.next(), text('after'))
  })

  it('drops a copy whose reading it overtook', async () => {
    const { pause, copy, copies } = await open()
    copy('private')
    await pause.begin(undefined)
    await done()
    assert.equal(copies.size, 0)
  })

  it('leaves the clipboard alone, and offers the newest push when it ends', async () => {
    const { pause, system, push } = await open()
    await push('before')
    await pause.begin(undefined)
    await push('first')
    await push('second')
    assert.deepEqual(system.offered, text('before'))
    await pause.end()
    await done()
    assert.deepEqual(system.offered, text('second'))
  })

  it('does not offer a push since which somebody copied', async () => {
    const { pause, system, push, copy } = await openPaused()
    await push('pushed')
    copy('private')
    await pause.end()
    await done()
    assert.equal(system.offered, undefined)
    assert.deepEqual(await system.paste(), text('private'))
  })

  it('offers a push that came after the last copy', async () => {
    const { pause, system, push, copy } = await openPaused()
    copy('private')
    await push('pushed')
    await pause.end()
    await done()
    assert.deepEqual(system.offered, text('pushed'))
  })

  it('does not offer a file that was being saved while somebody copied', async () => {
    const { pause, clipboard, system, copy } = await openPaused()
    let save: (content: OfferedContent) => void = () => undefined
    const offered = clipboard.offer(new Promise((resolve) => (save = resolve)))
    copy('private')
    await pause.end()
    save({ kind: 'files', paths: ['/received/a.bin'] })
    await offered
    assert.equal(system.offered, undefined)
  })

  it('offers nothing older when the newest push could not be saved', async () => {
    const { pause, clipboard, system, push } = await openPaused()
    await push('older')
    const failure = new Error('the disk is full')
    await assert.rejects(clipboard.offer(Promise.reject(failure)), failure)
    await pause.end()
    await done()
    assert.equal(system.offered, undefined)
  })

  it('ends by itself when its time has come', async () => {
    const { pause, clock, file, system, push } = await open()
    const { untilMs } = await pause.begin(10 * MINUTE)
    assert.equal(untilMs, clock.now() + 10 * MINUTE)
    assert.deepEqual(pause.current, { untilMs })
    await push('pushed')
    clock.advance(10 * MINUTE - 1)
    assert.deepEqual([pause.isOn, system.writes.size], [true, 0])
    clock.advance(1)
    assert.deepEqual(await system.writes.next(), text('pushed'))
    assert.deepEqual([pause.current, clock.pending], [undefined, 0])
    await pause.close()
    assert.equal(file.text, '{"untilMs":0,"changedOn":[":1"]}\n')
  })

  it('ends at its wall-clock time, also after a sleep', async () => {
    const { pause, clock, copy, copies, system, push } = await open()
    await pause.begin(60 * MINUTE)
    await push('pushed')
    clock.jump(60 * MINUTE)
    // Within the half minute after which it looks again.
    clock.advance(30_000)
    assert.deepEqual(await system.writes.next(), text('pushed'))
    await pause.begin(60 * MINUTE)
    clock.jump(60 * MINUTE)
    copy('after')
    assert.deepEqual(await copies.next(), text('after'))
  })

  it('goes on longer when the clock is set back', async () => {
    const { pause, clock } = await open()
    await pause.begin(MINUTE)
    clock.jump(-60 * MINUTE)
    clock.advance(60 * MINUTE)
    assert.equal(pause.isOn, true)
    clock.advance(MINUTE)
    assert.equal(pause.isOn, false)
  })

  it('is replaced by a longer, a shorter or an endless one', async () => {
    const { pause, clock, push, system } = await open()
    await pause.begin(MINUTE)
    await push('pushed')
    await pause.begin(undefined)
    clock.advance(MAX_PAUSE_MS)
    assert.deepEqual(pause.current, { untilMs: undefined })
    await pause.begin(MINUTE)
    clock.advance(MINUTE)
    assert.equal(pause.isOn, false)
    await done()
    assert.deepEqual(system.offered, text('pushed'))
  })

  it('survives a restart, and so does its end', async () => {
    const first = await open()
    await first.pause.begin(10 * MINUTE)
    await first.pause.close()
    const { pause, copy, copies, clock } = await open(first)
    assert.equal(pause.isOn, true)
    copy('private')
    clock.advance(10 * MINUTE)
    copy('after')
    assert.deepEqual(await copies.next(), text('after'))
    await pause.close()
    assert.equal((await open(first)).pause.current, undefined)
  })

  it('keeps what was pushed meanwhile waiting over restarts, until it ends in any way', async () => {
    for (const duration of [undefined, MINUTE]) {
      const first = await open()
      await first.pause.begin(duration)
      await first.push('meanwhile')
      await first.pause.close()
      const second = await open({ file: first.file, clock: first.clock, before: 'meanwhile' })
      await second.pause.close()
      const { pause, system, clock } = await open({ ...second, before: 'meanwhile' })
      await done()
      assert.equal(system.writes.size, 0)
      if (duration === undefined) await pause.end()
      else clock.advance(duration)
      assert.deepEqual(await system.writes.next(), text('meanwhile'))
      await done()
      assert.equal(pause.isHoldingBack, false)
      await pause.close()
    }
  })

  it('keeps nothing waiting that may be older than a copy which a restart finds', async () => {
    const first = await openPaused()
    await first.push('meanwhile')
    await first.pause.close()
    const { pause, system } = await open({ ...first, before: 'meanwhile', found: 'private' })
    await pause.end()
    await done()
    assert.equal(system.writes.size, 0)
    assert.deepEqual(await system.paste(), text('private'))
  })

  it('that ended while no daemon ran is over', async () => {
    const first = await open()
    await first.pause.begin(MINUTE)
    await first.pause.close()
    first.clock.jump(MINUTE)
    const { pause, file } = await open(first)
    assert.deepEqual([pause.isOn, pause.isHoldingBack], [false, true])
    await pause.close()
    assert.equal(file.text, OVER)
  })

  it('goes on when its file is damaged or cannot be read, and says so', async () => {
    const unreadable = new MemoryPrivateFile()
    unreadable.failure = new Error('on fire')
    const files = ['', '{', '[]', '{"untilMs":"x"}', '{"untilMs":1e300}', 'null'].map(
      (text) => new MemoryPrivateFile(text),
    )
    for (const file of [...files, unreadable]) {
      const { pause, logger } = await open({ file })
      assert.deepEqual(pause.current, { untilMs: undefined }, file.text ?? 'unreadable')
      assert.match(logger.text, /Cannot read paused\.json.*clipgate resume/)
      if (file === unreadable) continue
      await pause.end()
      assert.deepEqual([pause.isOn, file.text], [false, OVER])
    }
  })

  it('neither begins nor ends where that cannot be kept', async () => {
    const { pause, file } = await open()
    file.failure = new Error('the disk is full')
    await assert.rejects(pause.begin(undefined), file.failure)
    assert.equal(pause.isOn, false)
    file.failure = undefined
    await pause.begin(undefined)
    file.failure = new Error('on fire')
    await assert.rejects(pause.end(), file.failure)
    assert.equal(pause.isOn, true)
  })

  it('that ends by itself ends also where its file cannot be written', async () => {
    const { pause, file, clock, logger } = await open()
    await pause.begin(MINUTE)
    file.failure = new Error('on fire')
    clock.advance(MINUTE)
    assert.equal(pause.isOn, false)
    await pause.close()
    assert.match(logger.text, /Cannot write paused\.json/)
  })

  it('that begins as another one ends is kept', async () => {
    const { pause, file, clock } = await open()
    await pause.begin(MINUTE)
    const next = pause.begin(undefined)
    clock.advance(MINUTE)
    await next
    await pause.close()
    assert.equal(pause.isOn, true)
    assert.equal(file.text, '{"untilMs":null,"changedOn":[]}\n')
  })

  it('tells those who listen when it begins and ends', async () => {
    const { pause, clock } = await open()
    const heard: (boolean | 'again')[] = []
    const stop = pause.onChange(() => heard.push(pause.isOn))
    await pause.begin(MINUTE)
    clock.advance(MINUTE)
    await pause.begin(undefined)
    await pause.end()
    await pause.end()
    stop()
    await pause.begin(undefined)
    assert.deepEqual(heard, [true, false, true, false])
  })

  it('takes no time of the processor without an end', async () => {
    const { pause, clock } = await openPaused()
    assert.equal(clock.pending, 0)
    await pause.begin(MINUTE)
    await pause.close()
    assert.equal(clock.pending, 0)
  })
})

describe('what was copied during a pause', () => {
  it('is shared when there was none', async () => {
    const first = await open()
    assert.equal(await first.isShared(), true)
    assert.equal(first.file.text, undefined)
  })

  for (const end of ['resumed', 'over', 'over while no daemon ran'] as const) {
    it(`is held back when it is found later, by each daemon: ${end}`, async () => {
      const first = await open()
      await first.pause.begin(end === 'resumed' ? undefined : MINUTE)
      first.copy('private')
      if (end === 'resumed') await first.pause.end()
      if (end === 'over') first.clock.advance(MINUTE)
      await first.pause.close()
      first.clock.jump(MINUTE)
      for (const desktop of [':1', ':2', ':1']) {
        const later = await open({ ...first, desktop })
        assert.deepEqual([later.pause.isOn, await later.isShared()], [false, false])
        await later.pause.close()
        // Whoever sets the clock back does not bring the pause back.
        first.clock.jump(-5 * MINUTE)
      }
    })
  }

  it('is held back until something else is copied or pushed on that desktop', async () => {
    for (const change of ['copy', 'push'] as const) {
      const first = await open()
      await first.pause.begin(undefined)
      first.copy('private')
      await first.pause.end()
      const held = await open(first)
      assert.equal(await held.isShared(), false)
      await held[change]('newer')
      await done()
      if (change === 'copy') assert.deepEqual(await held.copies.next(), text('newer'))
      await held.pause.close()
      assert.equal(await (await open(first)).isShared(), true, change)
      assert.equal(await (await open({ ...first, desktop: ':2' })).isShared(), false, change)
    }
  })

  it('is shared when the person copies it again afterwards', async () => {
    const { pause, copy, copies } = await openPaused()
    copy('private')
    await pause.end()
    copy('private')
    assert.deepEqual(await copies.next(), text('private'))
  })

  it('is held back also where that cannot be kept, and the desktops kept are few', async () => {
    const first = await openPaused()
    await first.pause.end()
    first.file.failure = new Error('the disk is full')
    first.copy('newer')
    await first.pause.close()
    first.file.failure = undefined
    assert.equal((await open(first)).pause.isHoldingBack, true)
    for (let display = 1; display <= 20; display += 1) {
      const { pause } = await open({ ...first, desktop: `:${display}` })
      pause.noteChange()
      await pause.close()
    }
    assert.equal(JSON.parse(first.file.text ?? '').changedOn.length, 8)
    assert.equal((await open({ ...first, desktop: ':20' })).pause.isHoldingBack, false)
    assert.equal((await open({ ...first, desktop: ':12' })).pause.isHoldingBack, true)
  })

  it('does not end a pause that began meanwhile', async () => {
    const first = await openPaused()
    await first.pause.end()
    const next = first.pause.begin(undefined)
    first.copy('newer')
    await next
    await first.pause.close()
    assert.equal((await open(first)).pause.isOn, true)
  })
})

describe('paused.json', () => {
  it('is read as it was written', async () => {
    const times = fc.option(fc.integer({ min: 1, max: 8.64e15 }), { nil: undefined })
    await forAllAsync(times, async (untilMs) => {
      const file = new MemoryPrivateFile()
      const first = await open({ file })
      await first.pause.begin(untilMs === undefined ? untilMs : untilMs - first.clock.now())
      await first.pause.close()
      const { pause } = await open({ file, clock: first.clock })
      assert.deepEqual(pause.current, first.pause.current)
      await pause.close()
    })
  })

  it('makes a pause of whatever is in it, and quotes nothing of it', async () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"untilMs":${json}}`),
    )
    await forAllAsync(texts, async (content) => {
      const { pause, logger } = await open({ file: new MemoryPrivateFile(content) })
      assert.equal(pause.isHoldingBack, true)
      if (content.length > 20) assert.ok(!logger.text.includes(content), 'it is not quoted')
      await pause.close()
    })
  })
})
