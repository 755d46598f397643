import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatClient } from '../../src/lib/format-client.ts'
import fc, { forAll } from '../support/property.ts'

/** Its types are those of what runs in browsers. */
const FORMAT: string = 'format'
const { formatAgo, formatLeft }: Format = await import(`../../src/web/panel/${FORMAT}.ts`)

interface Format {
  formatAgo(at: number, now: number): string
  formatLeft(ms: number): string
}

const BROWSERS: readonly (readonly [userAgent: string, name: string])[] = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0', 'Firefox 131'],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.6668.70 Mobile Safari/537.36',
    'Chrome 129',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari 18',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/129.0.6668.69 Mobile/15E148 Safari/604.1',
    'Chrome 129',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/131.0 Mobile/15E148 Safari/605.1.15',
    'Firefox 131',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36',
    'Samsung Internet 26',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36 Edg/129.0.0.0',
    'Edge 129',
  ],
]

describe('the panel says', () => {
  it('which app asked, in few words', () => {
    assert.equal(formatClient('SyncClipboard/2.8.4 (Android 16; Pixel 9)'), 'SyncClipboard 2.8.4')
    assert.equal(formatClient('okhttp/4.12.0'), 'okhttp 4.12.0')
    assert.equal(formatClient('Shortcuts'), 'Shortcuts')
    for (const [userAgent, name] of BROWSERS) assert.equal(formatClient(userAgent), name)
  })

  it('the name of any app in no more than it has room for', () =>
    forAll(fc.string({ maxLength: 200 }), (userAgent) => {
      assert.ok(formatClient(userAgent).length <= 33, 'It is too long')
    }))

  it('how long ago something was, in the largest unit that fits', () => {
    const now = Date.UTC(2026, 0, 31)
    const ago = (ms: number): string => formatAgo(now - ms, now)
    for (const ms of [-60_000, 0, 4_999, Number.NaN]) assert.equal(ago(ms), 'just now')
    assert.deepEqual([5_000, 59_999, 60_000].map(ago), [
      '5 seconds ago',
      '59 seconds ago',
      '1 minute ago',
    ])
    const long = [3_600_000, 2 * 86_400_000, 400 * 86_400_000].map(ago)
    assert.deepEqual(long, ['1 hour ago', '2 days ago', '1 year ago'])
  })

  it('what is left of a pause, never less than there is', () => {
    const minutes = [600_000, 540_001, 60_001].map(formatLeft)
    assert.deepEqual(minutes, ['10 minutes left', '10 minutes left', '2 minutes left'])
    const seconds = [60_000, 1_500, -5].map(formatLeft)
    assert.deepEqual(seconds, ['60 seconds left', '2 seconds left', '0 seconds left'])
  })
})
