import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Notification } from '../../../src/desktop/notifications/notification-command.ts'
import { createNotifier, type Subject } from '../../../src/desktop/notifications/notifier.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const SUBJECTS: readonly Subject[] = ['clipboard', 'gateway', 'control', 'disk']

function setUp() {
  const clock = new FakeClock()
  const told: Notification[] = []
  let isClosed = false
  const sender = {
    send: (notification: Notification) => void told.push(notification),
    close: () => {
      isClosed = true
    },
  }
  const notifier = createNotifier({ clock, logger: new CaptureLogger(), sender })
  return { clock, told, notifier, isClosed: () => isClosed }
}

describe('a notifier', () => {
  for (const subject of SUBJECTS) {
    it(`tells of a trouble that has lasted 10 s, and of its end: ${subject}`, () => {
      const { clock, told, notifier } = setUp()
      notifier.report(subject, true)
      clock.advance(9_999)
      assert.equal(told.length, 0)
      clock.advance(1)
      assert.equal(told.length, 1)
      notifier.report(subject, false)
      clock.advance(9_999)
      assert.equal(told.length, 1)
      clock.advance(1)
      assert.equal(told.length, 2)
      assert.notEqual(told[0]?.title, told[1]?.title)
    })
  }

  it('says nothing of a short trouble, nor of its end', () => {
    const { clock, told, notifier } = setUp()
    notifier.report('clipboard', true)
    clock.advance(9_000)
    notifier.report('clipboard', false)
    clock.advance(60_000)
    assert.deepEqual(told, [])
  })

  it('counts from the beginning of a trouble, however often it is reported', () => {
    const { clock, told, notifier } = setUp()
    for (let n = 0; n < 10; n += 1) {
      notifier.report('clipboard', true)
      clock.advance(1000)
    }
    assert.equal(told.length, 1)
  })

  it('tells one pair at most of a trouble that comes and goes', () => {
    const { clock, told, notifier } = setUp()
    notifier.report('gateway', true)
    clock.advance(10_000)
    for (let n = 0; n < 100; n += 1) {
      notifier.report('gateway', false)
      clock.advance(5000)
      notifier.report('gateway', true)
      clock.advance(5000)
    }
    assert.equal(told.length, 1)
    notifier.report('gateway', false)
    clock.advance(10_000)
    assert.equal(told.length, 2)
  })

  it('keeps troubles apart', () => {
    const { clock, told, notifier } = setUp()
    notifier.report('gateway', true)
    clock.advance(5000)
    notifier.report('disk', true)
    notifier.report('control', false)
    clock.advance(5000)
    notifier.report('gateway', false)
    clock.advance(5000)
    assert.equal(told.length, 2)
  })

  it('has no timer while all is well, or while nothing changes', () => {
    const { clock, notifier } = setUp()
    for (const subject of SUBJECTS) notifier.report(subject, false)
    assert.equal(clock.pending, 0)
    notifier.report('disk', true)
    assert.equal(clock.pending, 1)
    clock.advance(10_000)
    assert.equal(clock.pending, 0)
  })

  it('greets a device at once', () => {
    const { told, notifier } = setUp()
    notifier.greet('Pixel')
    assert.match(told[0]?.text ?? '', /“Pixel”/)
  })

  it('tells nothing any more once it is closed', () => {
    const { clock, told, notifier, isClosed } = setUp()
    notifier.report('disk', true)
    notifier.close()
    clock.advance(60_000)
    assert.deepEqual([told.length, clock.pending, isClosed()], [0, 0, true])
  })
})
