import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, it } from 'node:test'
import {
  formatConnectLink,
  LinkError,
  MAX_LINK_LENGTH,
  parseConnectLink,
  type ConnectPayload,
  type LinkErrorCode,
} from '../../src/link.ts'
import fc, { forAll } from '../support/property.ts'
import { jsonOf, linkAround, PAYLOAD, payloads } from './support/payloads.ts'

const DECODE_CODES = [
  'INVALID_SCHEME',
  'UNSUPPORTED_VERSION',
  'UNSUPPORTED_SERVICE',
  'PAYLOAD_DECODE_FAILED',
  'MISSING_FIELD',
  'INVALID_URL',
]

/** Parses what a JavaScript caller may pass. */
function parseAnything(input: unknown): unknown {
  // The point is to break the promise of the type.
  return parseConnectLink(input as string)
}

/** Fails unless parsing gives a link, or a `LinkError` of the protocol that says nothing else. */
function parsesOrRefuses(input: unknown): void {
  try {
    parseAnything(input)
  } catch (error) {
    assert.ok(error instanceof LinkError, inspect(error))
    assert.ok(DECODE_CODES.includes(error.code), error.code)
    assert.equal(error.cause, undefined)
    assert.equal(error.message, new LinkError(error.code).message)
  }
}

function refusesToFormat(payload: unknown, code: LinkErrorCode): void {
  // The point is to break the promise of the type.
  const format = () => formatConnectLink(payload as ConnectPayload)
  assert.throws(format, { name: 'LinkError', code })
}

describe('parseConnectLink()', () => {
  it('refuses what is not a string like any other text that is no link', () => {
    const link = formatConnectLink(PAYLOAD)
    const values = [undefined, null, 1, 1n, true, {}, [link], Symbol('link'), () => link]
    for (const input of [...values, new URL(link), new String(link), { trim: () => link }]) {
      assert.throws(() => parseAnything(input), { name: 'LinkError', code: 'INVALID_SCHEME' })
    }
  })

  it('answers texts of any length', () => {
    const start = 'clip://connect?v=1&svc=mobile-sync&p='
    const size = 4_000_000
    const texts = [
      'x'.repeat(size),
      ' '.repeat(size),
      '\ud800'.repeat(size),
      `clip://connect${'/a'.repeat(size)}`,
      `clip://connect?${'&'.repeat(size)}`,
      `clip://connect?${'%'.repeat(size)}`,
      `clip://connect?${'a=b&'.repeat(size / 4)}`,
      start + 'A'.repeat(size),
      start + 'A'.repeat(2 ** 20),
      linkAround('['.repeat(700_000)),
      linkAround(`{"v":1,"o":${'{"o":'.repeat(100_000)}`),
    ]
    for (const text of texts) assert.throws(() => parseConnectLink(text), LinkError)
  })

  it('takes links that are longer than encoders may make them', () => {
    const pwd = 'x'.repeat(100_000)
    assert.equal(parseConnectLink(linkAround(JSON.stringify({ ...PAYLOAD, v: 1, pwd }))).pwd, pwd)
  })

  it('reads nothing that somebody put on all objects', (t) => {
    t.after(() => Reflect.deleteProperty(Object.prototype, 'pwd'))
    Object.defineProperty(Object.prototype, 'pwd', { value: 'polluted', configurable: true })
    const link = linkAround('{"v":1,"url":"http://h","user":"phone_1"}')
    assert.throws(() => parseConnectLink(link), { code: 'MISSING_FIELD' })
  })

  it('touches no prototype, whatever the keys are called', () => {
    const o = '{"__proto__":"a","constructor":"b","toString":"c","n":1}'
    const parsed = parseConnectLink(linkAround(jsonOf(PAYLOAD).replace('}', `,"o":${o}}`)))
    assert.deepEqual(Object.entries(parsed.o ?? {}), [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ])
    assert.equal(Object.getPrototypeOf(parsed.o), Object.prototype)
  })

  // Protocol: These six codes are the only failures of a decoder
  it('throws nothing but the six codes, whatever goes in', () => {
    const starts = fc.constantFrom('', 'clip:', 'clip://connect', 'clip://connect?', linkAround(''))
    const texts = fc.tuple(starts, fc.string({ unit: 'binary' })).map((parts) => parts.join(''))
    forAll(fc.oneof(fc.anything(), texts), parsesOrRefuses)
  })

  it('throws nothing but the six codes, whatever the payload is', () => {
    const fields = { v: fc.constantFrom(1, 1, 2, '1'), url: fc.anything(), user: fc.anything() }
    const records = fc.record({ ...fields, pwd: fc.anything(), o: fc.anything() })
    const payload = fc.oneof(
      records.map((record) => encodeOr(record)),
      fc.json(),
      fc.string(),
    )
    forAll(payload, (json) => parsesOrRefuses(linkAround(json)))
  })

  it('throws nothing but the six codes for links with a few characters changed', () => {
    const insert = fc.string({ maxLength: 3, unit: 'binary' })
    const edit = fc.record({ at: fc.nat(), remove: fc.nat({ max: 3 }), insert })
    const edits = fc.array(edit, { minLength: 1, maxLength: 4 })
    forAll(payloads, edits, (payload, changes) => {
      let link = formatConnectLink(payload)
      for (const { at, remove, insert } of changes) {
        const start = at % (link.length + 1)
        link = link.slice(0, start) + insert + link.slice(start + remove)
      }
      parsesOrRefuses(link)
    })
  })

  it('does not depend on the order of the fields', () => {
    const reversed = (record: object) => Object.fromEntries(Object.entries(record).reverse())
    forAll(payloads, ({ o, ...payload }) => {
      const ordered = { v: 1, ...payload, ...(o === undefined ? {} : { o }) }
      const shuffled = reversed({ ...ordered, ...(o === undefined ? {} : { o: reversed(o) }) })
      assert.deepEqual(parseConnectLink(linkAround(JSON.stringify(shuffled))), ordered)
    })
  })

  it('does not depend on the order of the parameters, and reads them as URLs do', () => {
    const extra = fc.array(fc.tuple(fc.string({ minLength: 4 }), fc.string()), { maxLength: 3 })
    forAll(payloads, extra, fc.nat(), fc.webFragments(), (payload, more, turn, hash) => {
      const known = [...new URL(formatConnectLink(payload)).searchParams]
      const all = [...known, ...more]
      const at = turn % all.length
      const query = new URLSearchParams([...all.slice(at), ...all.slice(0, at)])
      const link = `clip://connect/x?${query}#${hash}`
      const p = new URL(link).searchParams.get('p') ?? ''
      const json = Buffer.from(p, 'base64url').toString()
      assert.deepEqual(parseConnectLink(link), JSON.parse(json))
    })
  })
})

describe('formatConnectLink()', () => {
  it('is undone by parseConnectLink()', () =>
    forAll(payloads, (payload) => {
      assert.deepEqual(parseConnectLink(formatConnectLink(payload)), { v: 1, ...payload })
    }))

  // Protocol: The JSON is minified
  it('formats the JSON of the payload, with the keys of o in order', () =>
    forAll(payloads, ({ url, user, pwd, o }) => {
      const link = formatConnectLink({ url, user, pwd, ...(o === undefined ? {} : { o }) })
      const metadata = Object.entries(o ?? {})
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
      const fields = JSON.stringify({ v: 1, url, user, pwd }).slice(0, -1)
      const json = o === undefined ? `${fields}}` : `${fields},"o":{${metadata.join()}}}`
      assert.equal(link, linkAround(json))
    }))

  // Protocol: Slashes at the end of `url` are removed
  it('leaves out the slashes at the end of the url', () => {
    const link = formatConnectLink({ ...PAYLOAD, url: 'https://h/path///' })
    assert.equal(parseConnectLink(link).url, 'https://h/path')
    refusesToFormat({ ...PAYLOAD, url: `http://h${'/'.repeat(1_000_000)}x` }, 'LINK_TOO_LONG')
  })

  it('refuses a url that its own parser would refuse', () => {
    const urls = ['ftp://h', 'HTTP://h', 'h', 'http:', 'http://', 'https:///', ' http://h', '/']
    for (const url of urls) {
      refusesToFormat({ ...PAYLOAD, url }, 'INVALID_URL')
    }
  })

  it('refuses a user outside the rule for user names', () => {
    const users = ['short', 'x'.repeat(33), '1phone', '_phone', 'phone-1', 'phöne_1', 'phone_1\n']
    for (const user of users) refusesToFormat({ ...PAYLOAD, user }, 'USERNAME_INVALID')
    for (const user of ['sixsix', 'x'.repeat(32)]) formatConnectLink({ ...PAYLOAD, user })
  })

  it('refuses fields that are empty, missing or no text', () => {
    for (const key of ['url', 'user', 'pwd']) {
      for (const value of ['', undefined, null, 1, ['http://h'], {}]) {
        refusesToFormat({ ...PAYLOAD, [key]: value }, 'MISSING_FIELD')
      }
    }
    for (const payload of [undefined, null, 'x', 1, []]) refusesToFormat(payload, 'MISSING_FIELD')
  })

  it('refuses metadata other than texts', () => {
    for (const o of [null, 'x', 1, [], ['a'], { exp: 1 }, { a: 'b', c: null }, { a: undefined }]) {
      refusesToFormat({ ...PAYLOAD, o }, 'METADATA_INVALID')
    }
  })

  it('refuses halves of surrogate pairs anywhere', () => {
    for (const half of ['\ud83d', '\udd11', 'a\udd11\ud83d']) {
      refusesToFormat({ ...PAYLOAD, url: `http://${half}` }, 'TEXT_MALFORMED')
      refusesToFormat({ ...PAYLOAD, pwd: half }, 'TEXT_MALFORMED')
      refusesToFormat({ ...PAYLOAD, o: { label: half } }, 'TEXT_MALFORMED')
      refusesToFormat({ ...PAYLOAD, o: { [half]: 'x' } }, 'TEXT_MALFORMED')
    }
  })

  it(`makes links of up to ${MAX_LINK_LENGTH} characters`, () => {
    // Each character more makes a link one or two characters longer.
    const sizeOf = (size: number) => formatConnectLink({ ...PAYLOAD, pwd: 'x'.repeat(size) }).length
    let size = 1
    while (sizeOf(size) < MAX_LINK_LENGTH - 1) size++
    assert.ok(sizeOf(size) <= MAX_LINK_LENGTH)
    refusesToFormat({ ...PAYLOAD, pwd: 'x'.repeat(size + 2) }, 'LINK_TOO_LONG')
    refusesToFormat({ ...PAYLOAD, pwd: '€'.repeat(200) }, 'LINK_TOO_LONG')
    refusesToFormat({ ...PAYLOAD, pwd: 'x'.repeat(10_000_000) }, 'LINK_TOO_LONG')
  })

  // Protocol: What cannot become a good link is refused
  it('throws nothing but a LinkError, and makes nothing that its parser refuses', () => {
    const user = fc.oneof(fc.anything(), fc.constant('phone_1'))
    const url = fc.oneof(
      fc.anything(),
      fc.string().map((text) => `http://${text}`),
    )
    const pwd = fc.oneof(fc.anything(), fc.string({ unit: 'binary' }))
    const o = fc.oneof(fc.anything(), fc.dictionary(fc.string({ unit: 'binary' }), fc.string()))
    forAll(fc.record({ url, user, pwd, o }), (payload) => {
      let link: string
      try {
        // The point is to break the promise of the type.
        link = formatConnectLink(payload as ConnectPayload)
      } catch (error) {
        assert.ok(error instanceof LinkError, inspect(error))
        return
      }
      assert.ok(link.length <= MAX_LINK_LENGTH)
      assert.equal(formatConnectLink(parseConnectLink(link)), link)
    })
  })
})

function encodeOr(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // A value with a BigInt, or a `toJSON` that fails, has no JSON; then it is no payload either.
    return '{}'
  }
}
