import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { networkOf } from '../../src/lib/network-of.ts'

describe('networkOf()', () => {
  // Protocol: All addresses of one IPv6 network (/64) count as one
  it('is an IPv4 address itself, and the first half of an IPv6 address', () => {
    const networks = {
      '192.0.2.7': '192.0.2.7',
      '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
      '2001:0DB8:0001:0002::1': '2001:db8:1:2',
      '2001:db8:1:2::': '2001:db8:1:2',
      '2001:db8::7': '2001:db8:0:0',
      '2001:db8::4:5:6:7:8': '2001:db8:0:4',
      '1:2:3::5:6:7:8': '1:2:3:0',
      '::1': '0:0:0:0',
      '::': '0:0:0:0',
      'fe80::1%eth0': 'fe80:0:0:0',
      '64:ff9b::192.0.2.7': '64:ff9b:0:0',
      '': '',
    }
    for (const [address, network] of Object.entries(networks)) {
      assert.equal(networkOf(address), network)
    }
  })
})
