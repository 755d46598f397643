import assert from 'node:assert/strict'
import { it } from 'node:test'
import { tell, type Happening } from '../../src/core/happening.ts'
import { Happenings } from '../../src/station/stream-logger.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'

it('what happened lately is what the log is told, with labels of that time, and no more', () => {
  const [clock, logger] = [new FakeClock(), new CaptureLogger()]
  const labels = new Map([['did_1', 'Phone']])
  const happenings = new Happenings(clock, (id) => labels.get(id))
  let changes = 0
  happenings.onChange(() => (changes += 1))
  const log = happenings.hear(logger)
  const at = new Date(clock.now()).toISOString()

  tell(log, { kind: 'pushed', device: 'did_1', type: 'Text', size: 5 })
  labels.clear()
  tell(log, { kind: 'refused', device: 'did_1', times: 2, address: 'x'.repeat(1000) })
  log.info('The clipboard has recovered')
  const [refused, pushed] = happenings.list
  assert.deepEqual([pushed?.id, pushed?.at, pushed?.label, pushed?.size], [1, at, 'Phone', 5])
  assert.deepEqual([refused?.label, refused?.address?.length], [undefined, 64])
  assert.deepEqual([happenings.list.length, changes], [2, 2])
  assert.deepEqual(
    logger.lines.map(({ level, message }) => `${level} ${message}`),
    [
      'debug A push became current',
      'warn Logins were refused: the password',
      'info The clipboard has recovered',
    ],
  )

  for (let count = 0; count < 300; count++) tell(log, { kind: 'resumed' })
  const ids = happenings.list.map(({ id }) => id)
  // The push is kept: there are fewer items than all else.
  assert.deepEqual([ids.length, ids[0], ids.at(-2), ids.at(-1)], [200, 302, 104, 1])
})

it('what happened has no line in a log whose reader is told in other words', () => {
  const logger = new CaptureLogger()
  const happened = ({ kind }: Happening) => kind === 'resumed'
  const happenings = new Happenings(new FakeClock(), () => undefined)
  const log = happenings.hear(Object.assign(logger, { happened }))
  tell(log, { kind: 'paused' })
  tell(log, { kind: 'resumed' })
  assert.deepEqual(
    logger.lines.map(({ message }) => message),
    ['The clipboard is paused'],
  )
  assert.deepEqual(
    happenings.list.map(({ kind }) => kind),
    ['resumed', 'paused'],
  )
})

it('what happened is not pushed out by a device that sends many items, nor they by it', () => {
  const happenings = new Happenings(new FakeClock(), () => undefined)
  const log = happenings.hear(new CaptureLogger())
  const flood = (kind: 'pushed' | 'refused') => {
    const rest = kind === 'pushed' ? ({ type: 'Text', size: 1 } as const) : { times: 1 }
    for (let count = 0; count < 300; count++) tell(log, { kind, ...rest })
  }
  const kept = () => happenings.list.filter(({ kind }) => kind === 'pushed').length
  flood('refused')
  flood('pushed')
  assert.deepEqual([happenings.list.length, kept()], [200, 100])
  flood('refused')
  assert.deepEqual([happenings.list.length, kept()], [200, 100])
})
