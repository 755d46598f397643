import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ITEM_TYPES } from '../../../src/core/item-type.ts'
import { FieldPicker } from '../../../src/gateway/wire/field-picker.ts'
import {
  decodeHistoryForm,
  HISTORY_FORM_FIELDS,
  type HistoryForm,
} from '../../../src/gateway/wire/history-form.ts'
import fc from '../../support/property.ts'

function decode(pairs: readonly (readonly [string, string])[]): HistoryForm {
  const picker = new FieldPicker<string>(HISTORY_FORM_FIELDS)
  for (const [name, value] of pairs) if (picker.wants(name)) picker.add(name, value)
  return decodeHistoryForm(picker.fields)
}

const NEEDED = [
  ['type', 'Text'],
  ['hash', 'ab'],
] as const

describe('a history form', () => {
  it('says what the item is, and what became of it', () => {
    const at = '2026-01-31T12:00:00.000Z'
    const form = decode([
      ['type', 'image'],
      ['hash', 'AB'],
      ['text', ' a.png '],
      ['dataName', 'a.png'],
      ['hasData', 'True'],
      ['size', '12'],
      ['createTime', at],
      ['lastModified', at],
      ['lastAccessed', at],
      ['starred', 'true'],
      ['pinned', 'FALSE'],
      ['version', '3'],
      ['isDeleted', 'false'],
    ])
    const time = Date.parse(at)
    assert.deepEqual(form, {
      type: 'Image',
      hash: 'AB',
      text: ' a.png ',
      dataName: 'a.png',
      hasData: true,
      size: 12,
      state: {
        createTime: time,
        lastModified: time,
        lastAccessed: time,
        starred: true,
        pinned: false,
        version: 3,
        isDeleted: false,
      },
    })
  })

  it('says nothing with what does not parse', () => {
    const { hasData, size, state } = decode([
      ...NEEDED,
      ['hasData', 'yes'],
      ['size', '1 MB'],
      ['createTime', 'now'],
      ['starred', '1'],
      ['version', '1.5'],
      ['isDeleted', ''],
      ['lastAccessed', '0001-01-01T00:00:00'],
    ])
    assert.deepEqual([hasData, size], [false, undefined])
    assert.deepEqual(
      Object.values(state).filter((value) => value !== undefined),
      [],
    )
  })

  it('refuses a data name that is a path', () => {
    for (const name of ['..', 'a/b', 'a\\b', 'a\0', 'a\nb', 'x'.repeat(256)]) {
      assert.throws(() => decode([...NEEDED, ['dataName', name]]), { code: 'BAD_NAME' })
    }
  })

  it('reads names in any letter case, and prefers the camelCase one', () => {
    const both = [
      ['DataName', 'a'],
      ['dataName', 'b'],
      ['DATANAME', 'c'],
    ] as const
    assert.equal(decode([...NEEDED, ...both]).dataName, 'b')
    assert.equal(decode([...NEEDED, ['DataName', 'a'], ['DATANAME', 'c']]).dataName, 'c')
    assert.equal(
      decode([
        ['TYPE', 'Text'],
        ['Hash', 'ab'],
        ['__proto__', 'x'],
      ]).hash,
      'ab',
    )
  })

  it('is decoded, or refused with 400, whatever comes', () => {
    const name = fc.oneof(fc.constantFrom(...HISTORY_FORM_FIELDS, 'Type', 'HASH'), fc.string())
    const value = fc.oneof(fc.constantFrom(...ITEM_TYPES, 'true', '2026-01-31', '1'), fc.string())
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        try {
          const { type, hash } = decode(pairs)
          assert.ok(ITEM_TYPES.includes(type) && hash !== '', 'needed fields are there')
        } catch (error) {
          const isRefusal = error instanceof Error && 'status' in error && error.status === 400
          assert.ok(isRefusal, String(error))
        }
      }),
    )
  })

  it('does not depend on the order of its fields', () => {
    const checked = ['type', 'hash', 'dataName']
    const others = HISTORY_FORM_FIELDS.filter((name) => !checked.includes(name))
    const pair = fc.tuple(fc.constantFrom(...others), fc.string())
    fc.assert(
      fc.property(fc.uniqueArray(pair, { selector: ([name]) => name }), (some) => {
        const pairs = [...some, ...NEEDED]
        assert.deepEqual(decode(pairs.toReversed()), decode(pairs))
      }),
    )
  })
})
