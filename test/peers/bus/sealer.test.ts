import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { deriveSecrets } from '../../../src/peers/bus/circle-key.ts'
import { MAX_SEALED_BYTES, Sealer } from '../../../src/peers/bus/sealer.ts'
import fc, { forAll } from '../../support/property.ts'

const secrets = deriveSecrets(randomBytes(32))
const member = new Sealer(secrets)

describe('a sealed signal', () => {
  it('is opened by whoever has the key, and counted', () => {
    const sender = new Sealer(secrets)
    let count = 0
    forAll(fc.uint8Array({ maxLength: 3000 }), (payload) => {
      const opened = member.open(sender.seal(payload))
      count += 1
      assert.deepEqual(
        [opened?.counter, Buffer.from(opened?.payload ?? [])],
        [count, Buffer.from(payload)],
      )
    })
  })

  it('shows nothing of its content, and never looks the same twice', () => {
    const payload = Buffer.from('a very secret message, quite secret')
    const sealed = [1, 2].map(() => Buffer.from(member.seal(payload)))
    for (const bytes of sealed) assert.ok(!bytes.includes('secret'), 'it can be read')
    assert.notDeepEqual(sealed[0]?.subarray(25), sealed[1]?.subarray(25))
    const again = Buffer.from(new Sealer(secrets).seal(payload))
    assert.notDeepEqual(again.subarray(1, 17), sealed[0]?.subarray(1, 17))
  })

  it('is refused once any bit of it is another, or when it is cut or longer', () => {
    const sealed = Buffer.from(new Sealer(secrets).seal(Buffer.from('{}')))
    const fresh = new Sealer(secrets)
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      assert.equal(fresh.open(changed), undefined, `bit ${bit}`)
    }
    for (let end = 0; end < sealed.length; end += 1) {
      assert.equal(fresh.open(sealed.subarray(0, end)), undefined, `${end} bytes`)
    }
    assert.equal(fresh.open(Buffer.concat([sealed, Buffer.alloc(1)])), undefined)
    assert.notEqual(fresh.open(sealed), undefined)
  })

  it('is refused with another key, and on another subject', () => {
    const sealed = member.seal(Buffer.from('x'))
    assert.equal(new Sealer(deriveSecrets(randomBytes(32))).open(sealed), undefined)
    assert.equal(new Sealer({ ...secrets, subject: 'clipgate.0' }).open(sealed), undefined)
  })

  it('has a bound, on both ends', () => {
    assert.throws(() => member.seal(Buffer.alloc(MAX_SEALED_BYTES)), RangeError)
    assert.equal(member.open(Buffer.alloc(MAX_SEALED_BYTES + 1)), undefined)
  })

  it('of any other bytes there is none', () =>
    forAll(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.equal(member.open(bytes), undefined)
      assert.equal(member.open(Uint8Array.from([1, ...bytes])), undefined)
    }))
})
