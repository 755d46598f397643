import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MAX_PAUSE_MS } from '../../src/core/limits.ts'
import { ClipboardGate } from '../../src/desktop/clipboard-gate.ts'
import { formatPause, parsePause } from '../../src/desktop/pause-file.ts'
import type { OfferedContent } from '../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeSystemClipboard } from '../support/fake-system-clipboard.ts'
import { Mailbox } from '../support/mailbox.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import fc from '../support/property.ts'

const MINUTE = 60_000

interface Parts {
  readonly file?: MemoryPrivateFile
  readonly clock?: FakeClock
}

/** A gate before a clipboard, wired as the daemon does it. */
async function open({ file = new MemoryPrivateFile(), clock = new FakeClock() }: Parts = {}) {
  const logger = new CaptureLogger()
  const gate = await ClipboardGate.open({ file, clock, logger })
  const copies: string[] = []
  const offers = new Mailbox<OfferedContent>()
  const system = new FakeSystemClipboard({
    isWanted: () => gate.noteCopy(),
    onCopy: (copied) => {
      if (gate.isOpen && copied.kind === 'text') copies.push(copied.text)
    },
    onTrouble: () => undefined,
  })
  gate.connect({
    offer: async (content) => {
      await system.offer(content)
      offers.put(content)
    },
  })
  const push = async (text: string): Promise<void> => {
    gate.notePush()
    await gate.offer({ kind: 'text', text })
  }
  const copy = (text: string): void => system.copy({ kind: 'text', text })
  return { gate, file, clock, logger, system, copies, offers, push, copy }
}

describe('a pause', () => {
  it('keeps copies unread, and does not share them afterwards', async () => {
    const { gate, copy, copies } = await open()
    copy('before')
    await gate.begin(undefined)
    copy('private')
    await gate.end()
    copy('after')
    assert.deepEqual(copies, ['before', 'after'])
  })

  it('drops a copy whose reading it overtook', async () => {
    const { gate } = await open()
    assert.equal(gate.noteCopy(), true)
    await gate.begin(undefined)
    assert.equal(gate.isOpen, false)
  })

  it('leaves the clipboard alone, and offers the newest push when it ends', async () => {
    const { gate, system, push } = await open()
    await push('before')
    await gate.begin(undefined)
    await push('first')
    await push('second')
    assert.deepEqual(system.offered, { kind: 'text', text: 'before' })
    await gate.end()
    assert.deepEqual(system.offered, { kind: 'text', text: 'second' })
  })

  it('does not offer a push since which somebody copied', async () => {
    const { gate, system, push, copy } = await open()
    await gate.begin(undefined)
    await push('pushed')
    copy('private')
    await gate.end()
    assert.equal(system.offered, undefined)
    assert.deepEqual(await system.paste(), { kind: 'text', text: 'private' })
  })

  it('offers a push that came after the last copy', async () => {
    const { gate, system, push, copy } = await open()
    await gate.begin(undefined)
    copy('private')
    await push('pushed')
    await gate.end()
    assert.deepEqual(system.offered, { kind: 'text', text: 'pushed' })
  })

  it('does not offer a file that was being saved while somebody copied', async () => {
    const { gate, system, copy } = await open()
    await gate.begin(undefined)
    gate.notePush()
    copy('private')
    await gate.end()
    await gate.offer({ kind: 'files', paths: ['/received/a.bin'] })
    assert.equal(system.offered, undefined)
  })

  it('offers nothing older when the newest push could not be saved', async () => {
    const { gate, system, push } = await open()
    await gate.begin(undefined)
    await push('older')
    gate.notePush()
    await gate.end()
    assert.equal(system.offered, undefined)
  })

  it('ends by itself when its time has come', async () => {
    const { gate, clock, file, offers, push } = await open()
    const { untilMs } = await gate.begin(10 * MINUTE)
    assert.equal(untilMs, clock.now() + 10 * MINUTE)
    assert.deepEqual(gate.pause, { untilMs })
    await push('pushed')
    clock.advance(10 * MINUTE - 1)
    assert.deepEqual([gate.isOpen, offers.size], [false, 0])
    clock.advance(1)
    assert.deepEqual(await offers.next(), { kind: 'text', text: 'pushed' })
    assert.deepEqual([gate.pause, clock.pending], [undefined, 0])
    await gate.close()
    assert.equal(file.text, undefined)
  })

  it('ends at its wall-clock time, also after a sleep', async () => {
    const { gate, clock, copy, copies, offers, push } = await open()
    await gate.begin(60 * MINUTE)
    await push('pushed')
    clock.jump(60 * MINUTE)
    // Within the half minute after which it looks again.
    clock.advance(30_000)
    assert.deepEqual(await offers.next(), { kind: 'text', text: 'pushed' })
    await gate.begin(60 * MINUTE)
    clock.jump(60 * MINUTE)
    copy('after')
    assert.deepEqual(copies, ['after'])
  })

  it('goes on longer when the clock is set back', async () => {
    const { gate, clock } = await open()
    await gate.begin(MINUTE)
    clock.jump(-60 * MINUTE)
    clock.advance(60 * MINUTE)
    assert.equal(gate.isOpen, false)
    clock.advance(MINUTE)
    assert.equal(gate.isOpen, true)
  })

  it('is replaced by a longer, a shorter or an endless one', async () => {
    const { gate, clock, push, system } = await open()
    await gate.begin(MINUTE)
    await push('pushed')
    await gate.begin(undefined)
    clock.advance(MAX_PAUSE_MS)
    assert.deepEqual(gate.pause, { untilMs: undefined })
    await gate.begin(MINUTE)
    clock.advance(MINUTE)
    assert.equal(gate.isOpen, true)
    assert.deepEqual(system.offered, { kind: 'text', text: 'pushed' })
  })

  it('survives a restart, and so does its end', async () => {
    const first = await open()
    await first.gate.begin(10 * MINUTE)
    await first.gate.close()
    const { gate, copy, copies, clock } = await open(first)
    assert.equal(gate.isOpen, false)
    copy('private')
    clock.advance(10 * MINUTE)
    copy('after')
    assert.deepEqual(copies, ['after'])
    await gate.close()
    assert.equal((await open(first)).gate.wasPaused, false)
  })

  it('that ended while no daemon ran is over, but what was copied is not looked at', async () => {
    const first = await open()
    await first.gate.begin(MINUTE)
    await first.gate.close()
    first.clock.jump(MINUTE)
    const { gate, file } = await open(first)
    assert.deepEqual([gate.isOpen, gate.wasPaused], [true, true])
    await gate.close()
    assert.equal(file.text, undefined)
  })

  it('goes on when its file is damaged or cannot be read, and says so', async () => {
    const unreadable = new MemoryPrivateFile()
    unreadable.failure = new Error('on fire')
    const files = ['', '{', '[]', '{"untilMs":"x"}', '{"untilMs":1e300}', 'null'].map(
      (text) => new MemoryPrivateFile(text),
    )
    for (const file of [...files, unreadable]) {
      const { gate, logger } = await open({ file })
      assert.deepEqual(gate.pause, { untilMs: undefined }, file.text ?? 'unreadable')
      assert.match(logger.text, /Cannot read paused\.json.*clipgate resume/)
      if (file === unreadable) continue
      await gate.end()
      assert.deepEqual([gate.isOpen, file.text], [true, undefined])
    }
  })

  it('neither begins nor ends where that cannot be kept', async () => {
    const { gate, file } = await open()
    file.failure = new Error('the disk is full')
    await assert.rejects(gate.begin(undefined), file.failure)
    assert.equal(gate.isOpen, true)
    file.failure = undefined
    await gate.begin(undefined)
    file.failure = new Error('on fire')
    await assert.rejects(gate.end(), file.failure)
    assert.equal(gate.isOpen, false)
  })

  it('that ends by itself ends also where its file cannot be removed', async () => {
    const { gate, file, clock, logger } = await open()
    await gate.begin(MINUTE)
    file.failure = new Error('on fire')
    clock.advance(MINUTE)
    assert.equal(gate.isOpen, true)
    await gate.close()
    assert.match(logger.text, /Cannot remove paused\.json/)
  })

  it('that begins as another one ends is kept', async () => {
    const { gate, file, clock } = await open()
    await gate.begin(MINUTE)
    const next = gate.begin(undefined)
    clock.advance(MINUTE)
    await next
    await gate.close()
    assert.equal(gate.isOpen, false)
    assert.equal(file.text, formatPause({ untilMs: undefined }))
  })

  it('tells those who listen when it begins and ends', async () => {
    const { gate, clock } = await open()
    const heard: (boolean | 'again')[] = []
    const stop = gate.onChange(() => heard.push(gate.isOpen))
    await gate.begin(MINUTE)
    clock.advance(MINUTE)
    await gate.begin(undefined)
    await gate.end()
    await gate.end()
    stop()
    await gate.begin(undefined)
    assert.deepEqual(heard, [false, true, false, true])
  })

  it('takes no time of the processor without an end', async () => {
    const { gate, clock } = await open()
    await gate.begin(undefined)
    assert.equal(clock.pending, 0)
    await gate.begin(MINUTE)
    await gate.close()
    assert.equal(clock.pending, 0)
  })
})

describe('paused.json', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 0, max: 8.64e15 }), { nil: undefined }),
        (untilMs) => {
          assert.deepEqual(parsePause(formatPause({ untilMs })), { untilMs })
        },
      ),
    )
  })

  it('is a pause, or a TypeError that quotes nothing', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"untilMs":${json}}`),
    )
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const { untilMs = 0 } = parsePause(text)
          assert.ok(Number.isFinite(untilMs), 'a time')
        } catch (error) {
          assert.ok(error instanceof TypeError, String(error))
        }
      }),
    )
  })
})
