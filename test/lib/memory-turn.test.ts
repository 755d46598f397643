import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as pause } from 'node:timers/promises'
import { MemoryTurn } from '../../src/lib/memory-turn.ts'
import { FakeClock } from '../support/fake-clock.ts'

function open(isTight: boolean) {
  const clock = new FakeClock()
  const turn = MemoryTurn.of(clock)
  const said: string[] = []
  let giveBack = (): void => undefined
  turn.holder = {
    isTight,
    giveWay: () => {
      said.push('asked')
      return new Promise((resolve) => (giveBack = resolve))
    },
    goOn: () => void said.push('goes on'),
  }
  const take = async (name: string) => {
    const held = await turn.take()
    said.push(name)
    return held
  }
  return { clock, turn, said, take, giveBack: () => giveBack() }
}

it('MemoryTurn gives one at a time what the holder has given back, and then the holder', async () => {
  const { said, take, giveBack } = open(true)
  const [first, second] = [take('first'), take('second')]
  await pause()
  assert.deepEqual(said, ['asked'])
  giveBack()
  const held = await first
  await pause()
  assert.deepEqual(said, ['asked', 'first'])
  held.release()
  held.release()
  await pause()
  assert.deepEqual(said, ['asked', 'first', 'goes on', 'asked'])
  giveBack()
  await second
})

it('MemoryTurn ends by itself after five seconds, unless it is renewed', async () => {
  const { clock, said, take, giveBack } = open(true)
  const taken = take('slow')
  giveBack()
  const held = await taken
  clock.advance(4_999)
  assert.equal(held.renew(), true)
  clock.advance(4_999)
  await pause()
  assert.deepEqual(said, ['asked', 'slow'])
  clock.advance(1)
  await pause()
  assert.deepEqual(said, ['asked', 'slow', 'goes on'])
  assert.equal(held.renew(), false)
})

it('MemoryTurn waits no longer for those who have gone', async () => {
  const { turn, said, take, giveBack } = open(true)
  const first = take('first')
  const gone = new AbortController()
  const second = turn.take(gone.signal)
  gone.abort(new Error('gone'))
  await assert.rejects(second, /gone/)
  giveBack()
  const held = await first
  held.release()
  await pause()
  assert.deepEqual(said, ['asked', 'first', 'goes on'])
})

it('MemoryTurn costs nothing where memory is not short, or nobody has any', async () => {
  const { clock, turn, said } = open(false)
  const held = [await turn.take(), await turn.take()]
  turn.holder = undefined
  held.push(await turn.take())
  assert.deepEqual([said, clock.pending], [[], 0])
  assert.deepEqual(
    held.map((each) => each.renew()),
    [true, true, true],
  )
})
