import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  deriveSecrets,
  formatCircleKey,
  isCircleUsername,
  mintCircleKey,
  parseCircleKey,
} from '../../../src/peers/bus/circle-key.ts'
import { isUsername } from '../../../src/devices/credential-rules.ts'
import fc, { forAll } from '../../support/property.ts'

describe('a group key', () => {
  it('is one line of text, another one each time, and comes back as it was', () => {
    const [a, b] = [mintCircleKey(), mintCircleKey()]
    assert.notEqual(a, b)
    assert.match(a, /^clipgate-group-key-1:[A-Za-z0-9_-]{43}\n$/)
    assert.equal(formatCircleKey(parseCircleKey(a)), a)
    assert.equal(formatCircleKey(parseCircleKey(`${a.trim()}\r\n`)), a)
  })

  it('is taken in its one spelling, and refused with a TypeError otherwise, unquoted', () => {
    const key = mintCircleKey().trim()
    const other = [key.replace('key-1', 'key-2'), key.slice(21), `${key} ${key}`]
    const isSilent = (error: unknown) =>
      error instanceof TypeError && !error.message.includes(key.slice(-20))
    for (const text of ['', key.slice(0, -1), `${key}A`, `${key}=`, ...other]) {
      assert.throws(() => parseCircleKey(text), isSilent, text)
    }
    forAll(fc.string(), (text) => {
      const line = `clipgate-group-key-1:${text}`
      try {
        assert.equal(formatCircleKey(parseCircleKey(line)).trim(), line.trim())
      } catch (error) {
        assert.ok(error instanceof TypeError, String(error))
      }
    })
  })

  it('gives everybody who has it the same credential and subject, and others none of them', () => {
    const key = parseCircleKey(mintCircleKey())
    const [a, other] = [deriveSecrets(key), deriveSecrets(parseCircleKey(mintCircleKey()))]
    assert.deepEqual(a, deriveSecrets(Buffer.from(key)))
    assert.ok(isUsername(a.username) && isCircleUsername(a.username), a.username)
    assert.match(a.subject, /^clipgate\.[0-9a-f]{16}$/)
    for (const name of ['id', 'subject', 'username', 'password', 'signalKey'] as const) {
      assert.notDeepEqual(a[name], other[name], name)
    }
  })

  it('keeps its credential, so that versions understand each other', () => {
    const { id, password, signalKey } = deriveSecrets(Buffer.alloc(32, 7))
    assert.deepEqual([id, password, Buffer.from(signalKey).toString('base64url')], VECTOR)
  })
})

/** Computed with Python's hmac, after RFC 5869. */
const VECTOR = [
  'e935b2ec6f8ead41',
  'gTmqsSILaZwHESmrYEeAQNKbf-kwsdeBHNK0SzgVmuY',
  'C-7GGqcn77SsvQzCklXfO9cPFCkAusgxMU0ecyAaxyk',
]
