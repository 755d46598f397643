import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { NEVER_PAUSED } from '../../src/desktop/clipboard-pause.ts'
import { ClipboardReconciler } from '../../src/desktop/clipboard-reconciler.ts'
import { LONGEST_RETRY_MS } from '../../src/lib/back-off.ts'
import { PatientClipboard } from '../../src/desktop/patient-clipboard.ts'
import { COPY_LIMITS } from '../../src/desktop/read-copy.ts'
import type { CopiedContent } from '../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeSystemClipboard } from '../support/fake-system-clipboard.ts'
import { done, text } from './support/open-reconciler.ts'

/** A clipboard that cannot be opened while `state.failure` is set. */
async function openPatiently(t: TestContext, failure: string | undefined) {
  const state = { failure, attempts: 0, kind: (): string | undefined => undefined }
  const systems: FakeSystemClipboard[] = []
  const clock = new FakeClock()
  const copies: CopiedContent[] = []
  const troubles: (string | undefined)[] = []
  const options = {
    pause: NEVER_PAUSED,
    limits: COPY_LIMITS,
    clock,
    logger: new CaptureLogger(),
    onCopy: (copied: CopiedContent) => void copies.push(copied),
    onTrouble: (message: string | undefined) => void troubles.push(message),
  }
  const clipboard = new ClipboardReconciler(async (events) => {
    const patient = await PatientClipboard.open(
      async (heard) => {
        state.attempts += 1
        if (state.failure !== undefined) throw new Error(state.failure)
        const system = new FakeSystemClipboard(heard)
        systems.push(system)
        return system
      },
      { events, clock },
    )
    state.kind = () => patient.kind
    return patient
  }, options)
  await clipboard.opened()
  const close = () => clipboard.close()
  t.after(close)
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await done()
  }
  return { state, systems, clock, copies, troubles, clipboard, pass, close }
}

describe('a clipboard that cannot be opened at the start', () => {
  it('is tried again for ever, ever more rarely, and says so once for each reason', async (t) => {
    const { state, pass, clock, troubles } = await openPatiently(t, 'No helper')
    assert.equal(state.kind(), undefined)
    for (const waitMs of [300, 600, 1200, 2400, 4800, 9600, 19_200]) {
      const before = state.attempts
      await pass(waitMs - 1)
      assert.equal(state.attempts, before)
      await pass(1)
      assert.equal(state.attempts, before + 1)
    }
    for (let round = 0; round < 100; round += 1) await pass(LONGEST_RETRY_MS)
    assert.equal(state.attempts, 108)
    assert.equal(clock.pending, 1)
    assert.deepEqual(troubles, ['No helper'])
  })

  it('shares copies once it is open, and says that the problem is over', async (t) => {
    const { state, systems, pass, copies, troubles } = await openPatiently(t, 'No helper')
    state.failure = undefined
    await pass(300)
    assert.equal(state.kind(), 'x11')
    assert.deepEqual(troubles, ['No helper', undefined])
    systems[0]?.copy(text('copied'))
    await done()
    assert.deepEqual(copies, [text('copied')])
  })

  it('gets the newest push once it is open, and no other', async (t) => {
    const { state, systems, pass, clipboard } = await openPatiently(t, 'No helper')
    for (const value of ['first', 'second']) {
      await assert.rejects(clipboard.offer(text(value)), { name: 'OutOfReach' })
    }
    state.failure = undefined
    await pass(300)
    assert.deepEqual(systems[0]?.offered, text('second'))
    assert.equal(systems[0]?.writes.size, 1)
  })

  it('is left alone after the end', async (t) => {
    const { state, clock, close, pass } = await openPatiently(t, 'No helper')
    await close()
    assert.equal(clock.pending, 0)
    await pass(LONGEST_RETRY_MS)
    assert.equal(state.attempts, 1)
  })

  it('is what it is where nothing fails', async (t) => {
    const { state, systems, clipboard, troubles } = await openPatiently(t, undefined)
    await clipboard.offer(text('pushed'))
    assert.deepEqual(systems[0]?.offered, text('pushed'))
    assert.deepEqual([state.kind(), state.attempts, troubles], ['x11', 1, []])
  })
})
