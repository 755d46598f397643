import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readUrlencoded } from '../../src/http/urlencoded.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { turnsDuring } from '../support/turns-during.ts'

const NAMES = ['type', 'text', 'dataName']

/** The pairs of these names in a form. */
async function read(
  body: string | Uint8Array,
  pieceLength?: number,
): Promise<readonly (readonly [string, string])[]> {
  const pairs: (readonly [string, string])[] = []
  const visitor = {
    longestName: 8,
    wants: (name: string) => NAMES.includes(name),
    add: (name: string, value: string) => pairs.push([name, value]),
  }
  await readUrlencoded(Buffer.from(body), visitor, pieceLength)
  return pairs
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
    const pieceLength = fc.integer({ min: 3, max: 9 })
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
