import assert from 'node:assert/strict'
import { isAscii, isUtf8 } from 'node:buffer'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { MIB } from '../../src/core/limits.ts'
import { type FieldText, readUrlencoded } from '../../src/http/urlencoded.ts'
import { hasCode } from '../../src/lib/system-error.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { turnsDuring } from '../support/turns-during.ts'

const NAMES = ['type', 'text', 'dataName']

/** The pairs of these names in a form, with strings in the place of bytes. */
async function read(
  body: string | Uint8Array,
  pieceLength?: number,
): Promise<readonly (readonly [string, string])[]> {
  const pairs: (readonly [string, string])[] = []
  const visitor = {
    longestName: 8,
    wants: (name: string) => NAMES.includes(name),
    add: (name: string, value: FieldText) => pairs.push([name, Buffer.from(value).toString()]),
  }
  await readUrlencoded(Buffer.from(body), visitor, pieceLength)
  return pairs
}

/** What the escapes of a value stand for, one after the other. */
function unescaped(value: Uint8Array): Buffer {
  const text = Buffer.from(value).toString('latin1').replaceAll('+', ' ')
  const bytes = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1')
}

describe('an urlencoded form', () => {
  it('is pairs, in their order', async () => {
    const expected = [
      ['type', 'Text'],
      ['text', 'a b=c'],
      ['type', ''],
    ]
    assert.deepEqual(await read('type=Text&text=a+b%3Dc&type'), expected)
    assert.deepEqual(await read('&&=x&type=Text&text=a%20b=c&other=1&type=&'), expected)
  })

  it('is empty when there is nothing', async () => {
    for (const body of ['', '&', '=', '&=&', 'other=1']) assert.deepEqual(await read(body), [])
  })

  it('is UTF-8, escaped or not', async () => {
    const expected = [
      ['text', '写 🙂'],
      ['text', '\ufeff'],
    ]
    assert.deepEqual(await read('text=%E5%86%99+🙂&%74ext=%ef%bb%bf'), expected)
  })

  it('keeps percent signs that begin no escape', async () => {
    assert.deepEqual(await read('text=100%25&text=100%&text=%zz%4&text=%4%41'), [
      ['text', '100%'],
      ['text', '100%'],
      ['text', '%zz%4'],
      ['text', '%4A'],
    ])
  })

  it('is refused when a value that is wanted is not UTF-8, and only then', async () => {
    for (const body of ['text=%ff', Buffer.from('text=\xff', 'latin1')]) {
      await assert.rejects(read(body), { code: 'BAD_BODY' })
    }
    assert.deepEqual(await read(Buffer.from('other=\xff&\xff=1&text=a', 'latin1')), [['text', 'a']])
  })

  it('is passed over where nobody wants it, however long', async () => {
    const other = Array.from({ length: 900 }, (_, index) => `field${index}=value`).join('&')
    assert.deepEqual(await read(`${other}&type=Text&${'x'.repeat(100_000)}=1`), [['type', 'Text']])
  })

  // Protocol: form has at most 1,000 pairs
  it('has at most a thousand pairs', async () => {
    assert.equal((await read('text=%41&'.repeat(1000))).length, 1000)
    for (const pair of ['text=%41&', 'other&', '&']) {
      await assert.rejects(read(`${pair.repeat(1000)}a`), { code: 'BAD_BODY' })
    }
  })

  it('is read as URLSearchParams reads it, whatever pieces it is decoded in', async () => {
    const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme' }))
    const pairs = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme' })))
    const pieceLength = fc.integer({ min: 1, max: 9 })
    await forAllAsync(pairs, pieceLength, async (written, length) => {
      const known = written.filter(([key]) => NAMES.includes(key))
      assert.deepEqual(await read(new URLSearchParams(written).toString(), length), known)
    })
    const pieces = ['type', 'text', '=', '&', '%', '%4', '%41', '+', 'z', '%c3%a9']
    await forAllAsync(fc.array(fc.constantFrom(...pieces)), pieceLength, async (some, length) => {
      const known = [...new URLSearchParams(some.join(''))].filter(([key]) => NAMES.includes(key))
      assert.deepEqual(await read(some.join(''), length), known)
    })
  })

  it('is UTF-8 byte for byte, or refused, whatever bytes it has and however long it is', async () => {
    const units = [
      '\0',
      '%00',
      '+',
      '%',
      '%4',
      '%zz',
      '%ef%bb%bf',
      '\ufeff',
      '写',
      '🙂',
      '%f0%9f%99%82',
    ]
    const bad = ['%ff', '%c3', '%ed%a0%bd', '%c0%af', '%f5', '%e5%86', '%ed%b8%80']
    const unit = fc.oneof(
      { arbitrary: fc.constantFrom(...units).map((text) => Buffer.from(text)), weight: 9 },
      { arbitrary: fc.constantFrom(...bad).map((text) => Buffer.from(text)), weight: 1 },
      {
        arbitrary: fc.uint8Array({ maxLength: 2 }).filter((some) => !some.includes(0x26)),
        weight: 1,
      },
    )
    const before = fc.constantFrom(0, MIB - 4, MIB)
    await forAllAsync(
      before,
      fc.array(unit),
      fc.integer({ min: 1, max: 9 }),
      async (fill, some, length) => {
        const body = Buffer.concat([Buffer.from('text='), Buffer.alloc(fill, 'x'), ...some])
        const pieceLength = fill === 0 ? length : undefined
        const result = await read(body, pieceLength).catch((error: unknown) => {
          assert.ok(hasCode(error, 'BAD_BODY'))
        })
        const bytes = unescaped(body.subarray(5))
        const wanted = isUtf8(bytes) ? [['text', bytes.toString()]] : undefined
        // A difference of a megabyte is nothing to print.
        assert.ok(isDeepStrictEqual(result, wanted), `${Buffer.concat(some).toString('latin1')}`)
        if (wanted && isAscii(body))
          assert.ok(new URLSearchParams(body.toString()).get('text') === wanted[0]?.[1])
      },
    )
  })

  it('has values of more than a megabyte as they came, and others as text', async () => {
    for (const [written, isText] of [
      ['a'.repeat(MIB), true],
      ['%41'.repeat(MIB), true],
      ['a'.repeat(MIB + 1), false],
    ] as const) {
      const values: FieldText[] = []
      const body = Buffer.from(`text=${written}&other=1`)
      const add = (_: string, text: FieldText) => values.push(text)
      await readUrlencoded(body, { longestName: 8, wants: (name) => name === 'text', add })
      const [value = ''] = values
      assert.equal(typeof value === 'string', isText)
      assert.equal(value.length, isText ? MIB : MIB + 1)
      const isPart = value instanceof Uint8Array && value.buffer === body.buffer
      assert.equal(isPart, !isText, 'it is not copied')
    }
  })

  it('lets others have their turn while a long value is decoded', async () => {
    const body = `text=${'%41'.repeat(5 * 1024 * 1024)}`
    const turns = await turnsDuring(() => read(body))
    assert.ok(turns >= 14, `${turns} turns`)
  })

  it('lets others have their turn while many values are decoded', async () => {
    const body = `text=${'%41'.repeat(5 * 1024)}&`.repeat(999)
    const turns = await turnsDuring(() => read(body))
    assert.ok(turns >= 14, `${turns} turns`)
  })
})
