import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  countFields,
  decodeSegments,
  findField,
  hasDecisiveFields,
  isAuthority,
  parseTarget,
} from '../../src/http/request-head.ts'
import fc, { forAll } from '../support/property.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const DECISIVE = words(`
  content-encoding content-length expect if-match if-modified-since if-none-match if-range
  if-unmodified-since transfer-encoding upgrade
`)

const HARMLESS = words(`
  accept accept-encoding authorization connection content-type cookie from host if range te
  trailer upgrade-insecure-requests user-agent x-expect
`)

/** A name as somebody may spell it. */
const spelled = (names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...names), fc.infiniteStream(fc.boolean()))
    .map(([name, capitals]) =>
      [...name]
        .map((letter) => (capitals.next().value === true ? letter.toUpperCase() : letter))
        .join(''),
    )

const fieldsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((name, index) => [name, `value ${index}`])

describe('header fields as they came', () => {
  it('decide something when any of them does, wherever it stands and however it is spelled', () => {
    const harmless = fc.array(spelled(HARMLESS), { maxLength: 8 })
    forAll(harmless, spelled(DECISIVE), harmless, (before, name, after) => {
      assert.equal(hasDecisiveFields(fieldsOf([...before, ...after])), false, before.join())
      assert.equal(hasDecisiveFields(fieldsOf([...before, name, ...after])), true, name)
    })
  })

  it('decide nothing by their values', () => {
    assert.equal(hasDecisiveFields(['X-A', 'Transfer-Encoding', 'X-B', 'Content-Length']), false)
  })

  it('are found by name, the first of several, and counted', () => {
    const names = fc.array(spelled(['host', 'hos', 'hosts', 'x-host']), { maxLength: 8 })
    forAll(names, (all) => {
      const fields = fieldsOf(all)
      const places = all.flatMap((name, index) => (/^host$/i.test(name) ? [index] : []))
      assert.equal(countFields(fields, 'host'), places.length)
      const [first] = places
      assert.equal(findField(fields, 'host'), first === undefined ? undefined : `value ${first}`)
    })
  })
})

function pathOf(target: string, method = 'GET'): string {
  return parseTarget(method, target).path
}

/** What no resource has. */
function isMalformed(target: string, method = 'GET'): boolean {
  return decodeSegments(pathOf(target, method)) === undefined
}

describe('a request target', () => {
  // Protocol: The query is cut off, repeated slashes count as one
  it('has a path without query, doubled slashes and one trailing slash', () => {
    assert.equal(pathOf('/Sync.json?a=b?c'), '/Sync.json')
    assert.equal(pathOf('//Sync.json'), '/Sync.json')
    assert.equal(pathOf('/file/'), '/file')
    assert.equal(pathOf('///api//time//'), '/api/time')
    assert.equal(pathOf('/'), '/')
    assert.equal(pathOf('//'), '/')
    assert.equal(pathOf('/?x'), '/')
  })

  it('keeps what stands behind the first question mark', () => {
    assert.equal(parseTarget('GET', '/a?b=c&d?e').search, 'b=c&d?e')
    assert.equal(parseTarget('GET', '/a').search, '')
  })

  // Protocol: Absolute targets
  it('may be absolute, and then names the host', () => {
    const { path, authority } = parseTarget('GET', 'http://box:42720//Sync.json?x')
    assert.equal(path, '/Sync.json')
    assert.equal(authority, 'box:42720')
    assert.equal(pathOf('HTTPS://box'), '/')
    assert.equal(pathOf('http://box?x'), '/')
  })

  it('is malformed with a fragment, another scheme, a user, or no form at all', () => {
    for (const target of ['/a#b', 'ftp://box/', 'http://u@box/', 'http:///a', 'box:80', '*', '']) {
      assert.ok(isMalformed(target), target)
    }
  })

  it('is the root when OPTIONS asks for the server as a whole', () => {
    assert.equal(pathOf('*', 'OPTIONS'), '/')
  })

  it('leaves dots and encoded slashes alone', () => {
    assert.deepEqual(decodeSegments(pathOf('/file/..')), ['file', '..'])
    assert.deepEqual(decodeSegments(pathOf('/file/%2e%2e%2fa')), ['file', '../a'])
    assert.deepEqual(decodeSegments(pathOf('/file/%252e')), ['file', '%2e'])
  })

  it('cannot be decoded when its percent-encoding is malformed or not UTF-8', () => {
    for (const path of ['/%', '/%4', '/%zz', '/%ff', '/%c0%af', '/%ed%a0%80']) {
      assert.ok(isMalformed(path), path)
    }
  })

  it('normalises to something that stays as it is, whatever it was', () => {
    const target = fc.string({ unit: fc.constantFrom('/', 'a', '.', '%', '2', 'f', '?', '#', ':') })
    forAll(target, (rest) => {
      const { path } = parseTarget('GET', `/${rest}`)
      assert.equal(parseTarget('GET', path).path, path)
      assert.ok(!path.includes('//') && !path.includes('?'))
    })
  })

  it('gives every name back as it was encoded', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' })
    forAll(fc.array(name, { minLength: 1 }), (names) => {
      const target = `/${names.map(encodeURIComponent).join('/')}`
      assert.deepEqual(decodeSegments(pathOf(target)), names)
    })
  })

  it('never makes the parser throw', () =>
    forAll(fc.string(), fc.constantFrom('GET', 'OPTIONS'), (target, method) => {
      decodeSegments(parseTarget(method, target).path)
    }))
})

describe('an authority', () => {
  it('is a host with or without a port', () => {
    const texts = ['box', 'box.local:42720', '192.0.2.7', '[2001:db8::7]:80', 'a_b-c~d', 'box:']
    for (const text of texts) {
      assert.ok(isAuthority(text), text)
    }
  })

  it('is no list, user, path or bare IPv6 address', () => {
    const others = ['', 'a, b', 'a,b', 'u@box', 'box/x', 'box:x', 'box:1:2', '::1', ':80', 'ü']
    for (const text of others) {
      assert.ok(!isAuthority(text), text)
    }
  })

  it('is whatever stands for one in a URL', () =>
    forAll(fc.webAuthority({ withPort: true }), (authority) => {
      assert.ok(isAuthority(authority))
    }))
})
