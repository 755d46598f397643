import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatAgo } from '../../src/cli/words/quantities.ts'
import { displayWidth, formatTable } from '../../src/cli/text-table.ts'
import { visible, visibleJson, visibleLines } from '../../src/cli/visible.ts'
import fc, { forAll } from '../support/property.ts'

const OBEYED = [
  ...'\0\n\r\t\u001b\u007f\u0085\u009b\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e',
  ...'\u2060\u2066\u2069\ufeff\u{e0041}\ud800',
  '\udfff',
]

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.oneof(fc.constantFrom(...OBEYED), fc.string({ unit: 'grapheme', maxLength: 3 })))
    .map((parts) => parts.join('')),
)

describe('visible()', () => {
  it('shows what a terminal would obey', () => {
    assert.equal(visible('a\u001b[2Jb\u202ec\n'), 'a\\u{1b}[2Jb\\u{202e}c\\u{a}')
    for (const character of OBEYED) assert.match(visible(character), /^\\u\{[0-9a-f]+\}$/)
  })

  it('leaves ordinary text of all scripts alone', () => {
    const plain = `Pixel 9 Ünïcode 日本語 עברית नमस्ते 👨‍👩‍👧 می‌خواهم a'b"c\\d`
    assert.equal(visible(plain), plain)
  })

  it('leaves nothing to obey in any text', () =>
    forAll(text, (given) => {
      const shown = visible(given)
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
      assert.equal(visible(shown), shown)
    }))
})

describe('visibleLines()', () => {
  it('keeps lines and tabs, and shows everything else that a terminal would obey', () => {
    assert.equal(
      visibleLines('a\tb\r\n\n\u001b[2J\rc\r\r\n'),
      'a\tb\r\n\n\\u{1b}[2J\\u{d}c\\u{d}\r\n',
    )
    forAll(text, (given) => {
      const lines = visibleLines(given).split(/\r?\n|\t/)
      assert.deepEqual(lines, given.split(/\r?\n|\t/).map(visible))
    })
  })
})

describe('visibleJson()', () => {
  it('changes the spelling of JSON, and not its value', () =>
    forAll(fc.jsonValue(), text, (value, label) => {
      const given = { value, label }
      const shown = visibleJson(JSON.stringify(given))
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
      assert.equal(JSON.stringify(JSON.parse(shown)), JSON.stringify(given))
    }))
})

describe('formatTable()', () => {
  const rows = [
    ['NAME', 'CLIENT'],
    ['Phone', 'SyncClipboard/1.0 (Android 15; a very long description of it)'],
    ['日本', 'curl'],
  ]

  it('aligns columns by what the terminal shows', () => {
    const cells = ['AB', ['日本', 'x'], 'éy'].map((row) => [...row])
    assert.deepEqual(formatTable(cells, undefined), ['A     B', '日本  x', 'é     y'])
  })

  it('keeps to the width of the terminal, taking from the widest column', () => {
    const lines = formatTable(rows, 40)
    assert.ok(lines.every((line) => displayWidth(line) <= 40))
    assert.match(lines[1] ?? '', /^Phone {2}SyncClipboard.*…$/)
  })

  it('cuts nothing when there is no terminal', () => {
    assert.match(formatTable(rows, undefined)[1] ?? '', /description of it\)$/)
  })

  it('never makes a line wider than the terminal, or a row two lines', () => {
    const cells = fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 5 })
    forAll(cells, fc.integer({ min: 28, max: 120 }), (table, columns) => {
      const lines = formatTable(table, columns)
      assert.equal(lines.length, table.length)
      for (const line of lines) {
        assert.ok(displayWidth(line) <= columns)
        assert.ok(!line.includes('\n'))
      }
    })
  })
})

describe('quantities for people', () => {
  const NOW = Date.parse('2026-01-31T12:00:00.000Z')
  const ago = (ms: number) => formatAgo(new Date(NOW - ms).toISOString(), NOW)

  it('say how long ago something was', () => {
    const expected: readonly (readonly [number, string])[] = [
      [0, 'now'],
      [999, 'now'],
      [-5000, 'now'],
      [1000, '1 second ago'],
      [59_999, '59 seconds ago'],
      [120_000, '2 minutes ago'],
      [3_600_000, '1 hour ago'],
      [86_400_000 * 3, '3 days ago'],
      [86_400_000 * 65, '2 months ago'],
      [86_400_000 * 800, '2 years ago'],
    ]
    for (const [ms, words] of expected) assert.equal(ago(ms), words)
    assert.equal(formatAgo('no date', NOW), 'now')
  })
})
