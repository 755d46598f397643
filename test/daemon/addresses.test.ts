import assert from 'node:assert/strict'
import { isIPv6 } from 'node:net'
import { describe, it } from 'node:test'
import {
  chooseBaseUrl,
  createLocalTest,
  isLocalAddress,
  listAddresses,
  loopbackUrl,
  type NetworkInterfaces,
} from '../../src/daemon/addresses.ts'
import { FakeClock } from '../support/fake-clock.ts'
import fc, { forAll } from '../support/property.ts'

const EVERYWHERE = [
  { host: '0.0.0.0', port: 42_720 },
  { host: '::', port: 42_720 },
]

/** Interfaces with the given addresses; the prefix is that of a usual network. */
function interfaces(addresses: Readonly<Record<string, readonly string[]>>): NetworkInterfaces {
  return Object.fromEntries(
    Object.entries(addresses).map(([name, list]) => [
      name,
      list.map((address) => ({
        address,
        internal: name === 'lo',
        cidr: `${address}/${isIPv6(address) ? 64 : 24}`,
      })),
    ]),
  )
}

function choose(
  addresses: Readonly<Record<string, readonly string[]>>,
  bound = EVERYWHERE,
): string {
  return chooseBaseUrl(bound, interfaces(addresses), undefined).url
}

describe('chooseBaseUrl()', () => {
  it('prefers cables and radio to overlays, and overlays to nothing', () => {
    assert.equal(
      choose({ tailscale0: ['100.101.2.3'], wlan0: ['10.0.0.7'] }),
      'http://10.0.0.7:42720',
    )
    assert.equal(choose({ tailscale0: ['100.101.2.3'] }), 'http://100.101.2.3:42720')
  })

  it('prefers IPv4, and puts a unique local IPv6 address in brackets', () => {
    assert.equal(choose({ eth0: ['fd00::5', '10.0.0.7'] }), 'http://10.0.0.7:42720')
    assert.equal(choose({ eth0: ['fe80::1', 'fd00::5'] }), 'http://[fd00::5]:42720')
  })

  it('takes only addresses of a family that the gateway is bound to', () => {
    const bound = [{ host: '::', port: 1 }]
    assert.equal(choose({ eth0: ['10.0.0.7', 'fd00::5'] }, bound), 'http://[fd00::5]:1')
  })

  it('falls back to loopback with a warning when there is no LAN address', () => {
    for (const none of [
      {},
      { eth0: ['203.0.113.9', '169.254.3.4', 'fe80::1'] },
      { docker0: ['172.17.0.1'] },
    ]) {
      const base = chooseBaseUrl(EVERYWHERE, interfaces(none), undefined)
      assert.equal(base.url, 'http://127.0.0.1:42720')
      assert.match(base.warning ?? '', /--public-url/)
    }
  })

  it('falls back to loopback with a warning when the gateway is bound to this machine only', () => {
    for (const host of ['127.0.0.1', 'fe80::1%eth0']) {
      const base = chooseBaseUrl([{ host, port: 9 }], interfaces({ eth0: ['10.0.0.7'] }), undefined)
      assert.match(base.warning ?? '', /this machine only/)
    }
  })
})

describe('listAddresses()', () => {
  const list = (
    addresses: Readonly<Record<string, readonly string[]>>,
    bound = EVERYWHERE,
    publicUrl?: string,
  ) =>
    listAddresses(bound, interfaces(addresses), publicUrl).map(({ url, via, kind }) => [
      url,
      via,
      kind,
    ])

  it('lists what a phone can use, the best first, and never a container bridge', () => {
    const machine = {
      lo: ['127.0.0.1', '::1'],
      docker0: ['172.17.0.1'],
      'br-1234': ['172.18.0.1'],
      tailscale0: ['100.101.2.3'],
      wlan0: ['10.0.0.7', 'fe80::1', 'fd00::5', '203.0.113.9', '169.254.1.1'],
      veth0: ['10.1.1.1'],
      virbr0: ['192.168.122.1'],
    }
    assert.deepEqual(list(machine), [
      ['http://10.0.0.7:42720', 'wlan0', 'lan'],
      ['http://100.101.2.3:42720', 'tailscale0', 'overlay'],
      ['http://[fd00::5]:42720', 'wlan0', 'lan'],
    ])
  })

  it('begins with the public URL, and names it once', () => {
    assert.deepEqual(list({ eth0: ['10.0.0.7'] }, EVERYWHERE, 'https://clip.example'), [
      ['https://clip.example', '', 'public'],
      ['http://10.0.0.7:42720', 'eth0', 'lan'],
    ])
    const own = 'http://10.0.0.7:42720'
    assert.deepEqual(list({ eth0: ['10.0.0.7'] }, EVERYWHERE, own), [[own, '', 'public']])
  })

  it('lists what the gateway is bound to by name', () => {
    const bound = [
      { host: '127.0.0.1', port: 1 },
      { host: '203.0.113.9', port: 2 },
      { host: '10.0.0.7', port: 3 },
      { host: 'clip.lan', port: 4 },
    ]
    assert.deepEqual(list({ eth0: ['10.0.0.7', '203.0.113.9'] }, bound), [
      ['http://203.0.113.9:2', 'eth0', 'public'],
      ['http://10.0.0.7:3', 'eth0', 'lan'],
      ['http://clip.lan:4', '', 'lan'],
    ])
  })

  it('is the loopback URL when there is nothing else', () => {
    const loopback = [['http://127.0.0.1:42720', '', 'loopback']]
    for (const none of [{}, { eth0: ['203.0.113.9', 'fe80::1'] }, { docker0: ['172.17.0.1'] }]) {
      assert.deepEqual(list(none), loopback)
    }
    const bound = [{ host: '127.0.0.1', port: 42_720 }]
    assert.deepEqual(list({ eth0: ['10.0.0.7'] }, bound), loopback)
  })

  it('always begins with the URL that links have', () => {
    const address = fc.constantFrom(
      ...`
        127.0.0.1 10.0.0.7 192.168.1.20 100.64.0.1 169.254.1.1 203.0.113.9 ::1 fe80::1
        fd00::5 2001:db8::1
      `
        .trim()
        .split(/\s+/),
    )
    const name = fc.constantFrom('lo', 'eth0', 'wlan0', 'docker0', 'tailscale0', 'veth1', 'x0')
    const host = fc.oneof(fc.constantFrom('0.0.0.0', '::'), address)
    const bound = fc.array(fc.record({ host, port: fc.integer({ min: 1, max: 65_535 }) }), {
      minLength: 1,
      maxLength: 3,
    })
    const publicUrl = fc.option(fc.constant('https://clip.example'), { nil: undefined })
    forAll(fc.dictionary(name, fc.array(address)), bound, publicUrl, (all, where, own) => {
      const machine = interfaces(all)
      const [best] = listAddresses(where, machine, own)
      assert.equal(best?.url, chooseBaseUrl(where, machine, own).url)
    })
  })
})

describe('loopbackUrl()', () => {
  it('spells all addresses 127.0.0.1', () => {
    assert.equal(loopbackUrl(EVERYWHERE), 'http://127.0.0.1:42720')
    assert.equal(
      loopbackUrl([
        { host: '::', port: 5 },
        { host: '0.0.0.0', port: 4 },
      ]),
      'http://127.0.0.1:4',
    )
    assert.equal(loopbackUrl([{ host: '::', port: 5 }]), 'http://[::1]:5')
    assert.equal(loopbackUrl([{ host: '10.0.0.1', port: 5 }]), 'http://10.0.0.1:5')
  })
})

describe('isLocalAddress()', () => {
  const byte = fc.nat(255)
  const isAlwaysLocal = (address: string) => isLocalAddress(address, () => ({}))
  const host = () => interfaces({ eth0: ['203.0.113.9', '2001:db8:1::9'] })

  it('takes loopback, link-local, private and overlay addresses, also mapped into IPv6', () => {
    const near = `
      127.0.0.1 127.9.9.9 169.254.1.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.255.1
      100.64.0.1 100.127.255.255 ::1 fe80::1 fe80::1%eth0 fd12::1 ::ffff:10.0.0.1
      ::ffff:127.0.0.1
    `
    for (const address of near.trim().split(/\s+/)) {
      assert.equal(isAlwaysLocal(address), true, address)
    }
  })

  it('takes the subnets of the host', () => {
    assert.equal(isLocalAddress('203.0.113.77', host), true)
    assert.equal(isLocalAddress('2001:db8:1::77', host), true)
    assert.equal(isLocalAddress('203.0.114.1', host), false)
    assert.equal(isLocalAddress('2001:db8:2::77', host), false)
  })

  it('reads the interfaces once a second at most, and not for addresses that are near', () => {
    const clock = new FakeClock()
    let reads = 0
    let now = host()
    const isLocal = createLocalTest(() => {
      reads += 1
      return now
    }, clock)
    assert.equal(isLocal('192.168.1.2'), true)
    assert.equal(reads, 0)
    for (let look = 0; look < 3; look++) assert.equal(isLocal('2001:db8:1::77'), true)
    assert.equal(isLocal('2001:db8:2::77'), false)
    assert.equal(reads, 1)
    now = interfaces({ eth0: ['2001:db8:2::9'] })
    clock.advance(1000)
    assert.equal(isLocal('2001:db8:2::77'), true)
    assert.equal(isLocal('2001:db8:1::77'), false)
    assert.equal(reads, 2)
  })

  it('does not take an interface without a prefix for the whole internet', () => {
    const open = { ppp0: [{ address: '203.0.113.9', internal: false, cidr: '203.0.113.9/0' }] }
    assert.equal(
      isLocalAddress('8.8.8.8', () => open),
      false,
    )
  })

  it('refuses what is beyond, and what is no address', () => {
    const far = `
      8.8.8.8 172.32.0.1 172.15.0.1 100.128.0.1 100.63.0.1 192.169.0.1 11.0.0.1 2001:db8::1
      ::ffff:8.8.8.8 fec0::1 localhost 10.0.0 10.0.0.1.example
    `
    for (const address of ['', ...far.trim().split(/\s+/)])
      assert.equal(isLocalAddress(address, host), false, address)
  })

  it('agrees with the definition of the private networks on every IPv4 address', () =>
    forAll(byte, byte, byte, byte, (a, b, c, d) => {
      const expected =
        a === 10 ||
        a === 127 ||
        (a === 172 && b >= 16 && b < 32) ||
        (a === 192 && b === 168) ||
        (a === 169 && b === 254) ||
        (a === 100 && b >= 64 && b < 128)
      const address = `${a}.${b}.${c}.${d}`
      assert.equal(isAlwaysLocal(address), expected, address)
      assert.equal(isAlwaysLocal(`::ffff:${address}`), expected, address)
    }))
})
