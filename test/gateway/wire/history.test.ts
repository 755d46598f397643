import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Item, ITEM_TYPES, type ItemType } from '../../../src/core/item.ts'
import { FieldPicker } from '../../../src/gateway/wire/fields.ts'
import {
  decodeHistoryFilter,
  decodeHistoryForm,
  formatTime,
  HISTORY_FILTER_FIELDS,
  HISTORY_FORM_FIELDS,
  type HistoryForm,
  isWanted,
  parseMoment,
  parseTime,
} from '../../../src/gateway/wire/history.ts'
import type { FieldText } from '../../../src/http/urlencoded.ts'
import fc, { forAll, forAllAsync } from '../../support/property.ts'

function decode(pairs: readonly (readonly [string, FieldText])[]): HistoryForm {
  const picker = new FieldPicker(HISTORY_FORM_FIELDS)
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
      used: { first: NOON, last: NOON },
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

  it('has a long text as bytes and its beginning, and nothing else as long', () => {
    const long = Buffer.from('é'.repeat(2 ** 20))
    const { text, utf8 } = decode([...NEEDED, ['text', long]])
    assert.ok(text.length > 4096 && text.length < 100_000 && /^é+$/.test(text))
    assert.equal(utf8, long)
    assert.throws(() => decode([...NEEDED, ['dataName', long]]), { code: 'BAD_NAME' })
    for (const name of ['hash', 'type']) {
      assert.throws(() => decode([...NEEDED, [name, long]]), { code: 'BAD_BODY' })
    }
  })

  // Protocol: count in any letter case too
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
    forAll(fc.array(fc.tuple(name, value)), (pairs) => {
      try {
        const { type, hash } = decode(pairs)
        assert.ok(ITEM_TYPES.includes(type) && hash !== '', 'needed fields are there')
      } catch (error) {
        const isRefusal = error instanceof Error && 'status' in error && error.status === 400
        assert.ok(isRefusal, String(error))
      }
    })
  })

  it('does not depend on the order of its fields', () => {
    const checked = ['type', 'hash', 'dataName']
    const others = HISTORY_FORM_FIELDS.filter((name) => !checked.includes(name))
    const pair = fc.tuple(fc.constantFrom(...others), fc.string())
    forAll(fc.uniqueArray(pair, { selector: ([name]) => name }), (some) => {
      const pairs = [...some, ...NEEDED]
      assert.deepEqual(decode(pairs.toReversed()), decode(pairs))
    })
  })
})

const NOON = Date.UTC(2026, 0, 31, 12, 0, 0)

/** How programs of .NET spell a time: in the US, in China and in Sweden. */
function spellNet(seconds: number, halfHours: number): readonly string[] {
  const local = new Date((seconds + halfHours * 1800) * 1000)
  const [day = '', clock = ''] = local.toISOString().split(/[T.]/)
  const [year = '', month = '', date = ''] = day.split('-')
  const [hour, ...rest] = clock.split(':')
  const short = [Number(hour) % 12 || 12, ...rest].join(':')
  const half = Number(hour) < 12 ? 'AM' : 'PM'
  const [hours, minutes] = [Math.abs(halfHours) >> 1, (Math.abs(halfHours) % 2) * 30]
  const pad = (part: number): string => String(part).padStart(2, '0')
  const zone = ` ${halfHours < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`
  return [
    `${Number(month)}/${Number(date)}/${year} ${short}\u202f${half}${zone}`,
    `${year}/${Number(month)}/${Number(date)} ${Number(hour)}:${rest.join(':')}${zone}`,
    `${day} ${clock}${zone}`,
  ]
}

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

async function asks(fields: Readonly<Record<string, unknown>>, type?: ItemType): Promise<boolean> {
  const lower = Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const)
  return isWanted(item(type), decodeHistoryFilter(new Map(lower)))
}

/** The types that a filter lets through. */
async function typesOf(types: unknown): Promise<string> {
  const found: ItemType[] = []
  for (const type of ITEM_TYPES) if (await asks({ types }, type)) found.push(type)
  return found.join()
}

describe('a query', () => {
  it('finds the item when it asks for nothing else', async () => {
    assert.equal(await asks({}), true)
    for (const name of HISTORY_FILTER_FIELDS) assert.equal(await asks({ [name]: '' }), true, name)
  })

  // Protocol: when its type is listed
  it('finds it by type: names, or the bits of a mask', async () => {
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
      assert.equal(await typesOf(types), found, JSON.stringify(types))
    }
  })

  // Protocol: clients page until nothing comes
  // Protocol: unless it is `true`
  // Protocol: when its activation is strictly before, or after
  // Protocol: when its text or data name contains it
  it('finds it by page, star, time and text', async () => {
    const [earlier, noon, later] = [-1, 0, 1].map((ms) => formatTime(NOON + ms))
    for (const fields of [
      ...[{ page: 0 }, { page: 1 }, { page: 'all' }, { starred: false }, { starred: 'maybe' }],
      ...[{ before: later }, { after: earlier }, { modifiedAfter: earlier }, { before: 'soon' }],
      ...[{ searchText: 'WORLD' }, { types: '1,'.repeat(30_000) }],
    ]) {
      assert.equal(await asks(fields), true, JSON.stringify(fields))
    }
    for (const fields of [
      ...[{ page: 2 }, { page: 99 }, { starred: true }],
      ...[{ before: noon }, { after: noon }, { modifiedAfter: noon }, { searchText: 'another' }],
    ]) {
      assert.equal(await asks(fields), false, JSON.stringify(fields))
    }
    assert.equal(await asks({ searchText: 'o.pn' }, 'Image'), true, 'its name')
  })

  // Protocol, Queries: What does not parse counts as not sent
  it('is understood whatever its fields hold', async () => {
    const name = fc.constantFrom(...HISTORY_FILTER_FIELDS)
    await forAllAsync(fc.dictionary(name, fc.jsonValue()), async (fields) => {
      assert.equal(typeof (await asks(fields)), 'boolean')
    })
  })
})

describe('a time', () => {
  // Protocol: ISO 8601
  it('is read in the spellings of all platforms', () => {
    const spellings = [
      '2026-01-31T12:00:00.000Z',
      '2026-01-31T12:00:00Z',
      '2026-01-31t12:00z',
      '2026-01-31 12:00:00',
      '2026-01-31T12:00:00.0000000Z',
      '2026-01-31T12:00:00,000000000+00:00',
      '2026-01-31T20:00:00+08:00',
      '2026-01-31T20:00:00+0800',
      '2026-01-31T07:30-04:30',
    ]
    for (const text of spellings) assert.equal(parseTime(text), NOON, text)
    assert.equal(parseTime('2026-01-31'), NOON - 12 * 3_600_000)
    assert.equal(parseTime('1970-01-01T00:00:00Z'), 0)
  })

  // Protocol: as .NET spells it
  it('is read as programs of .NET spell it where they run', () => {
    const spellings = {
      'en-US': '1/31/2026 12:00:00\u202fPM +00:00',
      'en-US, before .NET 8': '1/31/2026 12:00:00 PM +00:00',
      'en-US, elsewhere': '1/31/2026 4:00:00 AM -08:00',
      'en-US, the day after': '2/1/2026 12:00:00\u202fAM +12:00',
      'zh-CN': '2026/1/31 20:00:00 +08:00',
      'zh-CN, Windows': '2026/1/31 4:00:00 -08:00',
      'sv-SE': '2026-01-31 13:00:00 +01:00',
    }
    const found = Object.entries(spellings).map(([culture, text]) => [culture, parseTime(text)])
    assert.deepEqual(
      found,
      Object.keys(spellings).map((culture) => [culture, NOON]),
    )
    const second = { first: NOON, last: NOON + 999 }
    assert.deepEqual(parseMoment('1/31/2026 12:00:00 PM +00:00'), second)
  })

  it('is the same in all spellings of .NET', () => {
    const most = Date.UTC(9999, 11, 30) / 1000
    const halfHours = fc.integer({ min: -28, max: 28 })
    forAll(fc.integer({ min: 50_400, max: most }), halfHours, (seconds, zone) => {
      for (const text of spellNet(seconds, zone)) {
        assert.equal(parseTime(text), seconds * 1000, text)
      }
    })
  })

  it('is as long as its smallest unit', () => {
    const lengths = { '': 86_400_000, 'T12:00': 60_000, 'T12:00:00': 1000, 'T12:00:00.12': 10 }
    for (const [time, length] of Object.entries(lengths)) {
      const { first = NaN, last = NaN } = parseMoment(`2026-01-31${time}`) ?? {}
      assert.equal(last - first + 1, length, time)
    }
    assert.deepEqual(parseMoment('2026-01-31T12:00:00.1234567Z'), {
      first: NOON + 123,
      last: NOON + 123,
    })
  })

  it('is exact to the millisecond', () => {
    assert.equal(parseTime('2026-01-31T12:00:00.7899999Z'), NOON + 789)
    assert.equal(parseTime('2026-01-31T12:00:00.7Z'), NOON + 700)
  })

  it('is none when it could be several, or never was', () => {
    const others = [
      '',
      'yesterday',
      '2026',
      '2026-02-30',
      '2026-13-01',
      '2026-01-31T25:00',
      '2026-01-31T12',
      '2026-01-31T12:00:00 08:00',
      '2026-01-31T12:00:60Z',
      '2026-01-31T12:00:00+25:00',
      '31.1.2026',
      '31/01/2026 12:00:00 +00:00',
      '02/01/2026 12:00:00 +00:00',
      '1/31/26 12:00:00 PM +00:00',
      '2/30/2026 12:00:00 PM +00:00',
      '1/31/2026 13:00:00 PM +00:00',
      '1/31/2026 0:00:00 AM +00:00',
      '31/01/2026 12:00:00 pm +00:00',
      '1/1/0001 12:00:00 AM +00:00',
      '1769860800000',
      '0001-01-01T00:00:00Z',
      '1969-12-31T23:59:59.999Z',
      '-000001-01-01',
      '9999-12-31T23:59:59-01:00',
      '2026-01-31T12:00:00Z and more',
    ]
    for (const text of others) assert.equal(parseTime(text), undefined, text)
  })

  it('is written in one spelling, and read as it was written', () => {
    const last = parseTime('9999-12-31T23:59:59.999Z') ?? 0
    forAll(fc.integer({ min: 0, max: last }), (at) => {
      assert.match(formatTime(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.equal(parseTime(formatTime(at)), at)
    })
  })

  it('is one that can be written, whatever was read', () => {
    const spelled = /^\d{4}-[01]\d-[012]\d[T ][012]\d:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?[+-]\d\d:?\d\d$/
    forAll(fc.oneof(fc.string(), fc.stringMatching(spelled)), (text) => {
      const at = parseTime(text)
      if (at !== undefined) assert.match(formatTime(at), /^\d{4}-.{18}Z$/)
    })
  })
})
