import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LoopGuard } from '../../src/desktop/loop-guard.ts'
import { FakeClock } from '../support/fake-clock.ts'
import fc, { forAll } from '../support/property.ts'

type ClipboardChange = 'write' | 'copy'

/** Whether any of the changes is one answer too many; each comes so long after the one before. */
function isLoop(changes: readonly ClipboardChange[], gapMs: number): boolean {
  const clock = new FakeClock()
  const troubles: unknown[] = []
  const guard = new LoopGuard(clock, (message) => troubles.push(message))
  for (const change of changes) {
    if (change === 'copy') guard.noteCopy()
    else guard.mayWrite()
    clock.advance(gapMs)
  }
  return troubles.length > 0
}

function alternating(count: number): ClipboardChange[] {
  return Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 'write' : 'copy'))
}

describe('LoopGuard', () => {
  it('finds a loop in the sixth answer', () => {
    assert.equal(isLoop(alternating(6), 10), false)
    assert.equal(isLoop(alternating(7), 10), true)
  })

  it('finds it whoever begins, and however fast it is', () => {
    assert.equal(isLoop(alternating(8).slice(1), 0), true)
    assert.equal(isLoop(alternating(7), 1000), true)
  })

  it('finds none where answers take longer than programs do', () => {
    assert.equal(isLoop(alternating(1000), 1001), false)
  })

  it('finds none in copies alone, nor in writes alone, however many and fast they are', () =>
    forAll(fc.constantFrom('write', 'copy'), fc.nat(200), fc.nat(2000), (change, count, gap) => {
      assert.equal(isLoop(Array<ClipboardChange>(count).fill(change), gap), false)
    }))

  it('finds none where a person copies while a phone pushes one thing after the other', () => {
    const changes = Array.from({ length: 200 }, (_, n) => (n % 5 === 0 ? 'copy' : 'write'))
    assert.equal(isLoop(changes, 200), false)
  })

  it('finds a loop with a program that sets the clipboard in two steps', () => {
    const changes = Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? 'write' : 'copy'))
    assert.equal(isLoop(changes, 100), true)
  })

  it('counts from the beginning after a second without a change', () => {
    const clock = new FakeClock()
    const guard = new LoopGuard(clock, () => assert.fail('no loop'))
    for (let time = 0; time < 5; time += 1) {
      for (const change of alternating(6)) {
        if (change === 'copy') guard.noteCopy()
        else assert.equal(guard.mayWrite(), true)
      }
      clock.advance(1001)
    }
  })
})
