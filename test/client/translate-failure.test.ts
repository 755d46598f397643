import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { ClientError, type ClientErrorCode } from '../../src/client.ts'
import { translateFailure } from '../../src/client/client-error.ts'

/** What Node's fetch throws. */
function fetchFailed(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('sentinel'), { code }) })
}

describe('translateFailure()', () => {
  it('names what Node tells in the cause', () => {
    const codes: readonly [string, ClientErrorCode][] = [
      ['ECONNREFUSED', 'UNREACHABLE'],
      ['ENOTFOUND', 'UNREACHABLE'],
      ['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNREACHABLE'],
      ['UND_ERR_CONNECT_TIMEOUT', 'UNREACHABLE'],
      ['UND_ERR_SOCKET', 'UNREACHABLE'],
      ['UND_ERR_HEADERS_TIMEOUT', 'TIMEOUT'],
      ['UND_ERR_BODY_TIMEOUT', 'TIMEOUT'],
      ['HPE_INVALID_CONSTANT', 'BAD_ANSWER'],
    ]
    for (const [reason, code] of codes) {
      const error = translateFailure(fetchFailed(reason))
      assert.deepEqual([error.code, error.reason], [code, reason])
      assert.doesNotMatch(inspect(error), /sentinel/)
    }
  })

  it('does without where other runtimes tell nothing', () => {
    const errors = [new TypeError('Failed to fetch'), new TypeError('x', { cause: 'y' })]
    for (const failure of [...errors, 'z', null]) {
      const { code, reason } = translateFailure(failure)
      assert.deepEqual([code, reason], ['UNREACHABLE', undefined])
    }
  })

  it('leaves errors of the client as they are', () => {
    const error = new ClientError('NOT_FOUND', { status: 404 })
    assert.equal(translateFailure(error), error)
  })
})
