import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { it } from 'node:test'
import { codeOf, isShortage } from '../../src/lib/system-error.ts'

it('the code of a failed call is the one that Node gives', () => {
  assert.equal(codeOf(Object.assign(new Error(), { code: 'ENOSPC' })), 'ENOSPC')
  const unnamed = Object.assign(new Error(), { code: 1 })
  for (const other of [undefined, 'ENOSPC', { code: 'ENOSPC' }, new Error(), unnamed]) {
    assert.equal(codeOf(other), undefined)
  }
})

it('the code of a failed call has a name also when libuv has none', () => {
  const errno = -constants.errno.EDQUOT
  const error = Object.assign(new Error(), { errno, code: `Unknown system error ${errno}` })
  assert.equal(codeOf(error), 'EDQUOT')
})

it('the code of a failed call tells a shortage from what stays', () => {
  const expectations = { EMFILE: true, ENFILE: true, ERR_WORKER_OUT_OF_MEMORY: true, ENOSPC: false }
  for (const [code, expected] of Object.entries(expectations)) {
    const cause = Object.assign(new Error(), { code })
    assert.equal(isShortage(cause), expected, code)
    assert.equal(isShortage(new Error('above it', { cause })), expected, code)
  }
})
