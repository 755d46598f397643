import assert from 'node:assert/strict'
import { openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { it } from 'node:test'
import { describeFailure } from '../../src/lib/describe-failure.ts'
import fc, { forAll } from '../support/property.ts'

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail('it throws')
}

class OwnError extends Error {
  override readonly name = 'OwnError'
}

it('what a log says of a failure has our own messages, and where it was', () => {
  const { reason, at } = describeFailure(new OwnError('Cannot do this'))
  assert.equal(reason, 'OwnError: Cannot do this')
  assert.match(at ?? '', /^TestContext\.<anonymous> \(describe-failure\.test\.ts:\d+:\d+\) < /)
})

it('what a log says of a failure has the code and the call of the system, and no path', async () => {
  assert.equal(describeFailure(thrownBy(() => openSync('/no/secret', 'r'))).reason, 'ENOENT (open)')
  await assert.rejects(open('/no/secret'), (error) => {
    assert.equal(describeFailure(error).reason, 'ENOENT (open)')
    return true
  })
})

it('what a log says of a failure has what was thrown only if it is an error', () => {
  assert.deepEqual(describeFailure('secret'), { reason: 'a thrown string', at: undefined })
  assert.deepEqual(describeFailure(undefined), { reason: 'a thrown undefined', at: undefined })
})

it('what a log says of a failure never has a value that the language or Node quotes, however it looks', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
  const lines = fc
    .array(text, { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('\n    at '))
  forAll(lines, (value) => {
    const secret = `secret ${value}`
    for (const error of [
      thrownBy(() => JSON.parse(secret)),
      thrownBy(() => Reflect.apply(Buffer.alloc, Buffer, [secret])),
      thrownBy(() => new URL(secret)),
      new TypeError(secret),
      new RangeError(`a\n    at ${secret}`),
    ]) {
      const { reason, at = '' } = describeFailure(error)
      assert.doesNotMatch(reason + at, /secret /)
    }
  })
})

it('what a log says of a failure has no place when the stack does not begin with the message', () => {
  const error = new TypeError('another')
  error.stack = 'TypeError: secret\n    at secret'
  assert.deepEqual(describeFailure(error), { reason: 'TypeError', at: undefined })
})
