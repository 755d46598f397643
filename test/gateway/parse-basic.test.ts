import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseBasic } from '../../src/gateway/authenticate.ts'
import fc, { forAll } from '../support/property.ts'

const basic = (pair: string | Uint8Array): string => `Basic ${Buffer.from(pair).toString('base64')}`

describe('parseBasic()', () => {
  // Protocol: split at the first colon
  it('splits at the first colon, and takes the scheme in any case', () => {
    assert.deepEqual(parseBasic(basic('me:a:b').replace('Basic', 'bASIC')), {
      username: 'me',
      password: 'a:b',
    })
    assert.deepEqual(parseBasic(basic(':')), { username: '', password: '' })
  })

  it('gives back any user and password that a client can send', () => {
    const username = fc.string({ maxLength: 32 }).filter((name) => !name.includes(':'))
    const password = fc.string({ unit: 'grapheme', maxLength: 100 })
    forAll(username, password, (user, pwd) => {
      assert.deepEqual(parseBasic(basic(`${user}:${pwd}`)), { username: user, password: pwd })
    })
  })

  it('refuses what is not one padded base64 credential in UTF-8', () => {
    const refused = [
      '',
      'Basic',
      'Basic ',
      'Basic:bWU6YQ==',
      'Bearer bWU6YQ==',
      'Basic bWU6YQ',
      'Basic bWU6YQ=',
      'Basic bWU6YQ== x',
      'Basic bW U6YQ==',
      'Basic bWU6Y-_=',
      basic('no colon'),
      basic(Buffer.from([0xff, 0x3a])),
    ]
    for (const header of refused) assert.equal(parseBasic(header), undefined, header)
  })

  it('takes passwords of up to 256 characters', () => {
    assert.equal(parseBasic(basic(`me:${'€'.repeat(256)}`))?.password.length, 256)
    assert.equal(parseBasic(basic(`me:${'🙂'.repeat(256)}`))?.password.length, 512)
    assert.equal(parseBasic(basic(`me:${'a'.repeat(257)}`)), undefined)
    assert.equal(parseBasic(basic(`me:${'a'.repeat(1_000_000)}`)), undefined)
  })

  it('never throws', () =>
    forAll(fc.string({ unit: 'binary' }), (header) => void parseBasic(`Basic ${header}`)))
})
