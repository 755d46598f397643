import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ITEM_TYPES, type ItemType } from '../../../src/core/item-type.ts'
import type { Item } from '../../../src/core/item.ts'
import {
  decodeHistoryFilter,
  HISTORY_FILTER_FIELDS,
  isWanted,
} from '../../../src/gateway/wire/history-filter.ts'
import fc from '../../support/property.ts'

const NOON = Date.UTC(2026, 0, 31, 12, 0, 0)

function item(type: ItemType = 'Text'): Item {
  return {
    type,
    text: 'Hello World',
    dataName: type === 'Text' ? '' : 'Photo.PNG',
    mediaType: 'text/plain',
    size: 11,
    contentId: 'blake3v1:00',
    contentHash: '00',
    nameHash: '00',
    aliases: [],
    activatedAt: NOON,
  }
}

function asks(fields: Readonly<Record<string, unknown>>, type?: ItemType): boolean {
  const lower = Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const)
  return isWanted(item(type), decodeHistoryFilter(new Map(lower)))
}

/** The types that a filter lets through. */
function typesOf(types: unknown): string {
  return ITEM_TYPES.filter((type) => asks({ types }, type)).join()
}

describe('a query', () => {
  it('finds the item when it asks for nothing else', () => {
    assert.equal(asks({}), true)
    for (const name of HISTORY_FILTER_FIELDS) assert.equal(asks({ [name]: '' }), true, name)
  })

  it('finds it by type: names, or the bits of a mask', () => {
    const all = ITEM_TYPES.join()
    const expected: readonly (readonly [unknown, string])[] = [
      ['Text', 'Text'],
      ['image', 'Image'],
      ['File, Group', 'File,Group'],
      ['Text|Image', 'Text,Image'],
      [['Text', 'Group'], 'Text,Group'],
      ['All', all],
      ['FileAndGroup', 'File,Group'],
      ['None', ''],
      ['1', 'Text'],
      [2, 'Image,File'],
      ['4', 'Image,File'],
      [8, 'Group'],
      ['15', all],
      [0, ''],
      [[1, 8], 'Text,Group'],
      ['Text,Song', 'Text'],
      ['1048577', 'Text'],
      ['Song', all],
      ['', all],
      ['-1', all],
      ['1.5', all],
      [{}, all],
      [true, all],
      [[[8]], all],
    ]
    for (const [types, found] of expected) {
      assert.equal(typesOf(types), found, JSON.stringify(types))
    }
  })

  it('is understood whatever its fields hold', () => {
    const name = fc.constantFrom(...HISTORY_FILTER_FIELDS)
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), (fields) => {
        assert.equal(typeof asks(fields), 'boolean')
      }),
    )
  })
})
