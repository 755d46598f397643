import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decodeSignal,
  encodeSignal,
  parseBaseUrl,
  type Signal,
} from '../../../src/peers/bus/signal.ts'
import fc, { forAll } from '../../support/property.ts'

const PLAIN = { noNullPrototype: true } as const

const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })

const member = hex(16).map((digits) => `m_${digits}`)

const signals: fc.Arbitrary<Signal> = fc.record(
  {
    kind: fc.constantFrom('have', 'ask'),
    origin: member,
    epoch: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    time: fc.integer({ min: 0, max: 100_000_000_000_000 }),
    url: fc.constantFrom(
      'http://10.0.0.1:42720',
      'https://a.example',
      'https://a.example/b/c',
      'http://[fd00::1]:1',
    ),
    item: fc.option(
      fc.record(
        {
          contentId: hex(64).map((digits) => `blake3v1:${digits}` as const),
          stamp: fc.record({ at: fc.integer({ min: 0, max: 100_000_000_000_000 }), member }, PLAIN),
          rank: hex(128),
        },
        // Earlier versions tell no rank.
        { ...PLAIN, requiredKeys: ['contentId', 'stamp'] },
      ),
      { nil: undefined },
    ),
  },
  PLAIN,
)

const SIGNAL = {
  kind: 'have',
  origin: 'm_0123456789abcdef',
  epoch: 1,
  time: 7,
  url: 'http://a',
  contentId: `blake3v1:${'ab'.repeat(32)}`,
  stampedAt: 5,
  stampedBy: 'm_0123456789abcdef',
  rank: 'ab'.repeat(64),
}

const decode = (value: unknown): Signal => decodeSignal(Buffer.from(JSON.stringify(value)))

describe('a signal', () => {
  it('comes back as it was', () =>
    forAll(signals, (signal) => {
      assert.deepEqual(decodeSignal(encodeSignal(signal)), signal)
    }))

  it('is refused with a TypeError whenever a field is missing or wrong', () => {
    assert.equal(decode(SIGNAL).epoch, 1)
    const bad: Readonly<Record<string, readonly unknown[]>> = {
      kind: ['push', undefined],
      origin: ['m_1', 'M_0123456789abcdef'],
      epoch: [0, 1.5, 2 ** 53, '1'],
      time: [1.5, undefined],
      url: [
        'ftp://a',
        5,
        'http://u:p@a',
        'http://a?q',
        'http://a#f',
        `http://a/${'x'.repeat(1024)}`,
      ],
      contentId: [undefined, 'x'],
      stampedAt: [undefined, -1, 1e15],
      stampedBy: ['x', undefined],
      rank: ['ab', 'AB'.repeat(64)],
    }
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) {
        assert.throws(() => decode({ ...SIGNAL, [name]: value }), TypeError, `${name}: ${value}`)
      }
    }
  })

  it('that is anything else throws nothing but a TypeError, which quotes none of it', () => {
    forAll(fc.oneof(fc.jsonValue(), fc.record(SIGNAL_FIELDS, { requiredKeys: [] })), (value) => {
      try {
        decode(value)
      } catch (error) {
        assert.ok(error instanceof TypeError, String(error))
      }
    })
    const isSilent = (error: unknown) =>
      error instanceof TypeError && !error.message.includes('secret')
    assert.throws(() => decodeSignal(Buffer.from('{"secret')), isSilent)
    assert.throws(() => decodeSignal(Buffer.from([0xff, 0xfe])), TypeError)
  })
})

const SIGNAL_FIELDS = Object.fromEntries(
  Object.entries(SIGNAL).map(([name, value]) => [
    name,
    fc.oneof(fc.constant(value), fc.jsonValue()),
  ]),
)

describe('parseBaseUrl()', () => {
  it('leaves no slash at the end, and no doubt about the host', () => {
    assert.equal(parseBaseUrl('HTTP://A.example:80/'), 'http://a.example')
    assert.equal(parseBaseUrl('https://a/b//'), 'https://a/b')
    assert.equal(parseBaseUrl('http://0x7f.1/'), 'http://127.0.0.1')
    const none = ['', 'a', '//a', 'javascript:1', 'file:///a', 'nats://a', 'http://', 'http://u@a']
    for (const text of none) {
      assert.equal(parseBaseUrl(text), undefined, text)
    }
  })
})
