import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatBaseUrl,
  formatHostPort,
  isLoopbackHost,
  isWildcardHost,
  parseHostPort,
} from '../../src/daemon/host-port.ts'
import fc, { forAll } from '../support/property.ts'

describe('parseHostPort()', () => {
  const hosts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain())

  it('undoes formatHostPort()', () =>
    forAll(hosts, fc.nat(65_535), (host, port) => {
      assert.deepEqual(parseHostPort(formatHostPort({ host, port })), { host, port })
    }))

  it('never throws, and what it takes it gives back', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('[', ']', ':', '.', '0', '1', 'a', '-', '%') }),
    )
    forAll(texts, (text) => {
      const parsed = parseHostPort(text)
      if (parsed !== undefined) assert.deepEqual(parseHostPort(formatHostPort(parsed)), parsed)
    })
  })

  it('refuses what a listener could not mean', () => {
    const bad =
      '|42720|:42720|127.0.0.1|127.0.0.1:|127.0.0.1:65536|127.0.0.1:-1|127.0.0.1:0x1|' +
      '::1:42720|[::1]|[::1]42720|[127.0.0.1]:1|[::1|a b:1|-a:1|a-:1|999.1.1.1:1|1.2.3:1|host:1:2|http://a:1|a/b:1|a:1 '
    for (const text of bad.split('|')) assert.equal(parseHostPort(text), undefined, text)
  })

  it('knows loopback and all-addresses hosts', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'LOCALHOST'])
      assert.ok(isLoopbackHost(host))
    for (const host of ['0.0.0.0', '10.0.0.1', '::', '127.0.0.1.example', 'example'])
      assert.ok(!isLoopbackHost(host))
    for (const host of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) assert.ok(isWildcardHost(host))
    for (const host of ['127.0.0.1', '::1', '00']) assert.ok(!isWildcardHost(host))
  })

  it('leaves the zone out of URLs', () => {
    assert.equal(formatBaseUrl({ host: 'fe80::1%eth0', port: 1 }), 'http://[fe80::1]:1')
  })
})
