import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { planReading } from '../../src/desktop/reading-plan.ts'
import fc from '../support/property.ts'

const KNOWN = [
  'text/uri-list',
  'x-special/gnome-copied-files',
  'UTF8_STRING',
  'text/plain;charset=utf-8',
  'text/plain',
  'STRING',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/tiff',
]
const targets = fc.shuffledSubarray([
  ...KNOWN,
  'text/html',
  'TIMESTAMP',
  'image/svg+xml',
  'application/pdf',
  'toString',
])

describe('planReading()', () => {
  it('tries files, then text, then images', () => {
    const kinds = planReading(['image/png', 'STRING', 'text/uri-list']).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['files', 'text', 'image'])
  })

  it('prefers the encodings that hold every character, and PNG', () => {
    const order = ['UTF8_STRING', 'text/plain;charset=utf-8', 'text/plain', 'STRING']
    const images = ['image/png', 'image/jpeg', 'image/gif', 'image/bmp']
    const shuffled = [...images.toReversed(), ...order.toReversed()]
    assert.deepEqual(
      planReading(shuffled).map(({ target }) => target),
      [...order, ...images],
    )
  })

  it('tries what is offered and known, each once, in the same order whatever theirs is', () => {
    fc.assert(
      fc.property(targets, (offered) => {
        const plan = planReading(offered)
        const tried = plan.map(({ target }) => target)
        const wanted = offered.filter((target) => KNOWN.includes(target))
        assert.deepEqual(tried.toSorted(), wanted.toSorted())
        assert.deepEqual(plan, planReading([...offered, ...offered].toReversed()))
      }),
    )
  })

  it('never reads HTML', () => {
    fc.assert(
      fc.property(targets, (offered) => {
        assert.ok(planReading(offered).every(({ target }) => target !== 'text/html'))
      }),
    )
  })
})
