import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Item, ITEM_TYPES } from '../../../src/core/item.ts'
import { decodeDocument, encodeDocument } from '../../../src/gateway/wire/clipboard-document.ts'
import { HttpError } from '../../../src/http/http-error.ts'
import fc, { forAll } from '../../support/property.ts'

const IMAGE: Item = {
  type: 'Image',
  text: 'a.png',
  dataName: 'a.png',
  mediaType: 'image/png',
  size: 3,
  contentId: 'blake3v1:00',
  contentHash: 'c0ffee',
  nameHash: 'beef',
  aliases: ['d00d'],
  activatedAt: 0,
}

const decode = (body: unknown) => decodeDocument(body, 'sync')

function refuses(body: unknown, code: string, detail = /./): void {
  assert.throws(
    () => decode(body),
    (error: unknown) => {
      assert.ok(error instanceof HttpError)
      assert.equal(error.code, code)
      assert.match(error.detail ?? '', detail)
      return true
    },
  )
}

describe('decodeDocument()', () => {
  // Protocol: a document of which nothing else is known is 400
  it('needs a type, in any letter case, and anything else that it knows', () => {
    const absent = {
      text: '',
      hasData: false,
      dataName: '',
      hash: '',
      usesOldKeys: false,
      batch: undefined,
      stamp: undefined,
    }
    const known = [
      { text: '' },
      { HASDATA: false },
      { Size: 0 },
      { Hash: '' },
      { dataname: '' },
      { contentId: '' },
    ]
    for (const member of known) {
      assert.deepEqual(decode({ TYPE: 'text', ...member }), { type: 'Text', ...absent })
    }
    assert.equal(decode({ Type: 'Text', File: '' }).text, '')
    assert.equal(decode({ Type: 'Text', Clipboard: 'a' }).text, 'a')
    for (const other of [
      {},
      { txt: 'a' },
      { text: null },
      { stampedAt: 1, stampedBy: 'm_0123456789abcdef' },
    ]) {
      refuses({ type: 'Text', ...other }, 'BAD_BODY', /type/)
    }
    refuses({}, 'BAD_BODY', /"type"/)
    refuses({ type: 'Movie' }, 'BAD_BODY', /"type"/)
    for (const body of [null, 1, 'Text', [], undefined]) refuses(body, 'BAD_BODY', /object/)
  })

  // Protocol: JSON keys count in any letter case
  it('takes keys in any case, and the camelCase spelling before all others', () => {
    const document = decode(
      JSON.parse('{"DataName":"x","dataName":"a","DATANAME":"y","Type":"File","HASDATA":true}'),
    )
    const { type, hasData, dataName } = document
    assert.deepEqual([type, hasData, dataName], ['File', true, 'a'])
  })

  it('counts null as absent and ignores what it does not know', () => {
    const body: unknown = JSON.parse(
      '{"type":"Text","text":null,"Text":"a","__proto__":{"text":"b"},"x":1}',
    )
    assert.equal(decode(body).text, 'a')
  })

  it('names the field whose JSON type is wrong', () => {
    for (const [field, value] of Object.entries({
      type: 1,
      text: {},
      hasData: 'yes',
      size: '3',
      hash: false,
      dataName: [],
      contentId: 0,
    })) {
      refuses({ type: 'Text', [field]: value }, 'BAD_BODY', new RegExp(`"${field}"`))
    }
  })

  it('refuses a data name that is a path', () => {
    for (const dataName of ['../x', 'a/b', 'a\\b', 'a\0']) {
      refuses({ type: 'File', dataName }, 'BAD_NAME')
    }
  })

  it('maps documents of protocol v1 and v2', () => {
    const text = decode({ File: '', Clipboard: 'hello', Type: 'Text' })
    assert.deepEqual([text.type, text.text, text.hasData], ['Text', 'hello', false])
    const image = decode({ File: 'a.png', Clipboard: 'ABCD', Type: 'Image' })
    assert.deepEqual([image.type, image.dataName, image.text], ['Image', 'a.png', 'ABCD'])
    assert.equal(image.usesOldKeys, true)
    assert.equal(decode({ type: 'Text', text: 'a', Clipboard: 'b' }).usesOldKeys, false)
    // What is no text has its hash there.
    const md5 = '0123456789abcdef0123456789ABCDEF'
    for (const type of ['Image', 'File', 'Group']) {
      const { text, hash } = decode({ File: 'a', Clipboard: md5, Type: type })
      assert.deepEqual([text, hash], ['', md5])
    }
    assert.equal(decode({ Clipboard: md5, Type: 'Text' }).text, md5)
  })

  // Protocol: Unpaired surrogates in `text` become U+FFFD
  it('replaces lone surrogates, which no file and no other program could take', () => {
    assert.equal(decode({ type: 'Text', text: 'a\ud800b' }).text, 'a\ufffdb')
  })

  it('gives a document or an HttpError for any JSON, and pollutes no prototype', () =>
    forAll(fc.jsonValue(), fc.constantFrom(...ITEM_TYPES), (value, type) => {
      for (const body of [value, { type, ...(typeof value === 'object' ? value : {}) }]) {
        try {
          assert.ok(ITEM_TYPES.includes(decode(body).type))
        } catch (error) {
          assert.ok(error instanceof HttpError)
        }
      }
      assert.equal('text' in {}, false)
    }))
})

describe('encodeDocument()', () => {
  it('writes the hash of each dialect', () => {
    const hashOf = (item: Partial<Item>, dialect: 'sync' | 'syncclipboard'): unknown =>
      JSON.parse(encodeDocument({ ...IMAGE, ...item }, dialect)).hash
    assert.equal(hashOf({}, 'sync'), 'c0ffee')
    assert.equal(hashOf({}, 'syncclipboard'), 'BEEF')
    assert.equal(hashOf({ type: 'Text', nameHash: 'c0ffee' }, 'syncclipboard'), 'C0FFEE')
    assert.equal(hashOf({ type: 'Group' }, 'sync'), 'c0ffee')
    assert.equal(hashOf({ type: 'Group' }, 'syncclipboard'), 'D00D')
    assert.equal(hashOf({ type: 'Group', aliases: [] }, 'syncclipboard'), 'C0FFEE')
  })
})

describe('a document with old keys', () => {
  it('has the old keys in front, and the hash where they had it', () => {
    const image = encodeDocument(IMAGE, 'syncclipboard', { isOld: true })
    assert.equal(
      image.startsWith('{"File":"a.png","Clipboard":"BEEF","Type":"Image","type":"Image",'),
      true,
      image,
    )
    const text = encodeDocument(
      { ...IMAGE, type: 'Text', text: 'hello', dataName: '' },
      'syncclipboard',
      { isOld: true },
    )
    assert.equal(
      text.startsWith('{"File":"","Clipboard":"hello","Type":"Text","type":"Text",'),
      true,
      text,
    )
  })

  it('is a present document for whoever ignores them', () => {
    for (const item of [IMAGE, undefined]) {
      const { File, Clipboard, Type, ...present } = JSON.parse(
        encodeDocument(item, 'sync', { isOld: true }),
      )
      assert.deepEqual(present, JSON.parse(encodeDocument(item, 'sync')))
      assert.deepEqual([File, Type], [present.dataName, present.type])
      assert.equal(typeof Clipboard, 'string')
    }
  })
})
