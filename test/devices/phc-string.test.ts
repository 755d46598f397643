import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatPhcString, type PhcHash, parsePhcString } from '../../src/devices/phc-string.ts'
import fc, { forAll } from '../support/property.ts'

const SALT = 'Y2xpcGdhdGUtMTZieXRlcw'
const TAG = '2eVTs9FfyvYN9P4CF1nV0FiDmYwx6NBC1o8WkbOlKv0'

const records: fc.Arbitrary<PhcHash> = fc.record(
  {
    parallelism: fc.integer({ min: 1, max: 16 }),
    memoryKib: fc.integer({ min: 128, max: 262_144 }),
    passes: fc.integer({ min: 1, max: 12 }),
    salt: fc.uint8Array({ minLength: 8, maxLength: 64 }),
    tag: fc.uint8Array({ minLength: 16, maxLength: 64 }),
  },
  { noNullPrototype: true },
)

describe('parsePhcString()', () => {
  it('reads what the reference implementation prints', () => {
    const record = parsePhcString(`$argon2id$v=19$m=65536,t=3,p=4$${SALT}$${TAG}`)
    assert.equal(Buffer.from(record?.salt ?? []).toString(), 'clipgate-16bytes')
    assert.equal(record?.tag.length, 32)
    assert.deepEqual([record?.memoryKib, record?.passes, record?.parallelism], [65_536, 3, 4])
  })

  it('refuses other functions, versions, spellings and orders', () => {
    const good = `$argon2id$v=19$m=65536,t=3,p=4$${SALT}$${TAG}`
    const refused = [
      '',
      '$',
      ` ${good}`,
      `${good}\n`,
      `${good}=`,
      `${good}$`,
      good.slice(0, good.lastIndexOf('$')),
      good.replace('argon2id', 'argon2i'),
      good.replace('v=19', 'v=16'),
      good.replace('$v=19', ''),
      good.replace('m=65536,t=3', 't=3,m=65536'),
      good.replace('p=4', 'p=4,keyid=a'),
      good.replace('65536', '065536'),
      good.replace('65536', '+65536'),
      good.replace('65536', '6e4'),
      good.replace(SALT, `${SALT}==`),
      good.replace(TAG, TAG.replace('e', '-')),
      // The last character of the salt has bits that stand for nothing.
      good.replace(SALT, `${SALT.slice(0, -1)}x`),
    ]
    assert.notEqual(parsePhcString(good), undefined)
    for (const text of refused) assert.equal(parsePhcString(text), undefined, text)
  })

  it('refuses what would cost too much, or too little to be Argon2', () => {
    const short = Buffer.alloc(7).toString('base64').replaceAll('=', '')
    const long = Buffer.alloc(65).toString('base64').replaceAll('=', '')
    const parameters = [
      'm=67108864,t=3,p=4',
      'm=262145,t=3,p=4',
      'm=31,t=3,p=4',
      'm=65536,t=13,p=4',
      'm=65536,t=0,p=4',
      'm=65536,t=3,p=17',
      'm=65536,t=3,p=0',
    ]
    const refused = [
      ...parameters.map((bad) => `${bad}$${SALT}$${TAG}`),
      `m=65536,t=3,p=4$${short}$${TAG}`,
      `m=65536,t=3,p=4$${long}$${TAG}`,
      `m=65536,t=3,p=4$${SALT}$${SALT.slice(0, 20)}`,
      `m=65536,t=3,p=4$${SALT}$${long}`,
    ]
    for (const rest of refused) {
      assert.equal(parsePhcString(`$argon2id$v=19$${rest}`), undefined, rest)
    }
  })

  it('undoes formatPhcString()', () =>
    forAll(records, (record) => {
      assert.deepEqual(parsePhcString(formatPhcString(record)), record)
    }))

  it('reads one spelling only: what it takes, it formats to the same text', () => {
    const replacements = fc.string({ maxLength: 2, unit: 'binary-ascii' })
    forAll(records, fc.nat(120), replacements, (record, at, by) => {
      const text = formatPhcString(record)
      const edited = text.slice(0, at) + by + text.slice(at + 1)
      const parsed = parsePhcString(edited)
      if (parsed !== undefined) assert.equal(formatPhcString(parsed), edited)
    })
  })

  it('never throws', () =>
    forAll(fc.string({ unit: 'binary' }), (text) => void parsePhcString(text)))
})
