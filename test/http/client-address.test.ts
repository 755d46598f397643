import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, it } from 'node:test'
import { createAddressTest, findClientAddress } from '../../src/http/client-address.ts'
import fc, { forAll } from '../support/property.ts'

const PROXY = '10.0.0.1'
const isTrusted = createAddressTest([PROXY, '10.1.0.0/16', 'fd00::/8'])

describe('the address of a client', () => {
  it('is the other end of the connection, whatever a stranger forwards', () => {
    assert.equal(findClientAddress('192.0.2.7', undefined, isTrusted), '192.0.2.7')
    assert.equal(findClientAddress('192.0.2.7', '198.51.100.1', isTrusted), '192.0.2.7')
  })

  // Protocol: counts only as far as trusted proxies have written it
  it('is what the last trusted proxy saw', () => {
    assert.equal(findClientAddress(PROXY, '198.51.100.1', isTrusted), '198.51.100.1')
    assert.equal(findClientAddress(PROXY, '6.6.6.6, 198.51.100.1', isTrusted), '198.51.100.1')
    assert.equal(findClientAddress(PROXY, '198.51.100.1, 10.1.2.3', isTrusted), '198.51.100.1')
    assert.equal(findClientAddress(PROXY, '6.6.6.6, 7.7.7.7, fd00::5', isTrusted), '7.7.7.7')
  })

  it('is the first proxy when there is nobody before it', () => {
    assert.equal(findClientAddress(PROXY, '10.1.0.9', isTrusted), '10.1.0.9')
    assert.equal(findClientAddress(PROXY, undefined, isTrusted), PROXY)
  })

  it('comes in several spellings', () => {
    for (const hop of ['198.51.100.1:4711', '"198.51.100.1"', '::ffff:198.51.100.1']) {
      assert.equal(findClientAddress(PROXY, hop, isTrusted), '198.51.100.1', hop)
    }
    assert.equal(findClientAddress(PROXY, '[2001:db8::7]:4711', isTrusted), '2001:db8::7')
    assert.equal(findClientAddress(PROXY, '2001:db8::7', isTrusted), '2001:db8::7')
    assert.equal(findClientAddress('::ffff:10.0.0.1', '198.51.100.1', isTrusted), '198.51.100.1')
  })

  it('is not read from behind something unreadable', () => {
    const unreadable = ['198.51.100.1, unknown', '198.51.100.1,', '198.51.100.1, 10.0.0.300', '']
    for (const forwarded of unreadable) {
      assert.equal(findClientAddress(PROXY, forwarded, isTrusted), PROXY, forwarded)
    }
  })

  it('is unknown when the connection is', () => {
    assert.equal(findClientAddress(undefined, '198.51.100.1', isTrusted), undefined)
  })

  it('is never anything but an address, and never one that only a stranger vouches for', () => {
    const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constant(PROXY))
    forAll(fc.array(hop), fc.ipV4(), (hops, remote) => {
      const address = findClientAddress(PROXY, hops.join(', '), isTrusted)
      assert.notEqual(isIP(address ?? ''), 0)
      fc.pre(!isTrusted(remote))
      assert.equal(findClientAddress(remote, hops.join(', '), isTrusted), remote)
    })
  })

  it('is found in a forwarding list of any untrusted addresses: the last one', () => {
    const stranger = fc.ipV4().filter((address) => !isTrusted(address))
    forAll(fc.array(stranger, { minLength: 1 }), (hops) => {
      assert.equal(findClientAddress(PROXY, hops.join(', '), isTrusted), hops.at(-1))
    })
  })
})

describe('a list of trusted addresses', () => {
  it('trusts nobody when it is empty', () => {
    assert.ok(!createAddressTest([])('127.0.0.1'))
  })

  it('refuses what is neither an address nor a subnet, and names it', () => {
    const entries = ['', 'proxy', '10.0.0.1/', '10.0.0.1/33', '10.0.0.1/8/8', 'fd00::/129', 'x/8']
    for (const entry of entries) {
      const isNamed = (error: Error): boolean => error.message.includes(`"${entry}"`)
      assert.throws(() => createAddressTest([entry]), isNamed)
    }
  })
})
