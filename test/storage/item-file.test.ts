import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Item, ITEM_TYPES } from '../../src/core/item.ts'
import {
  formatItemFile,
  parseItemFile,
  type BlobReference,
} from '../../src/storage/disk-latest-item.ts'
import fc, { forAll } from '../support/property.ts'

const HASH = 'c0ffee00'.repeat(8)

const hashes = fc.constantFrom(HASH, 'ab'.repeat(32))

const items: fc.Arbitrary<Item> = fc.record({
  type: fc.constantFrom(...ITEM_TYPES),
  text: fc.string({ unit: 'grapheme' }),
  dataName: fc.constantFrom('a', 'b c.txt', '写真.png'),
  mediaType: fc.constantFrom('text/plain', 'image/png'),
  size: fc.nat(),
  contentId: hashes.map((hash): Item['contentId'] => `blake3v1:${hash}`),
  contentHash: hashes,
  nameHash: hashes,
  groupHash: fc.option(hashes, { nil: undefined }),
  aliases: fc.array(hashes),
  activatedAt: fc.integer(),
  batch: fc.option(fc.constant('0123456789abcdef'.repeat(2)), { nil: undefined }),
  madeOf: fc.option(fc.constant('did_1 2,1'), { nil: undefined }),
  stamp: fc.option(fc.record({ at: fc.nat(), member: fc.constant('m_0123456789abcdef') }), {
    nil: undefined,
  }),
  sender: fc.option(
    fc.record({
      kind: fc.constantFrom('clipboard', 'device', 'peer'),
      deviceId: fc.constantFrom('did_1', undefined),
    }),
    { nil: undefined },
  ),
  replaced: fc.option(fc.array(hashes), { nil: undefined }),
})

const absent = fc.constant(undefined)
const NOWHERE = { name: absent, file: absent, group: absent }

const blobs: fc.Arbitrary<BlobReference> = fc.oneof(
  fc.record({ ...NOWHERE, name: fc.constant('ab'.repeat(16)), blake3: hashes }),
  fc.record({ ...NOWHERE, group: fc.constant('cd'.repeat(16)), blake3: hashes }),
  fc.record({
    ...NOWHERE,
    file: fc.record({
      path: fc.string({ unit: 'grapheme' }),
      ino: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
      mtimeNs: fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).map(String),
      modifiedAt: fc.integer(),
    }),
    blake3: hashes,
  }),
)

const binaries = fc.record({ item: items.filter(({ type }) => type !== 'Text'), blob: blobs })

const texts = items.map((item): Item => ({ ...item, type: 'Text' }))
const files = fc.record({
  text: fc.option(texts, { nil: undefined }),
  binary: fc.option(binaries, { nil: undefined }),
  unsaved: fc.option(fc.array(binaries), { nil: undefined }),
})

const SAMPLE: { readonly item: Item; readonly blob: BlobReference } = {
  item: {
    type: 'File',
    text: 'a',
    dataName: 'a',
    mediaType: 'x/y',
    size: 1,
    contentId: `blake3v1:${HASH}`,
    contentHash: HASH,
    nameHash: HASH,
    aliases: [],
    activatedAt: 1,
  },
  blob: { name: 'ab'.repeat(16), blake3: HASH },
}

describe('item.json', () => {
  it('gives back what was written', () =>
    forAll(files, (file) => {
      assert.deepEqual(parseItemFile(formatItemFile(file)), structuredClone(file))
    }))

  it('is refused in any other form, without a word of what is in it', () => {
    const secret = 'correct-horse'
    const member = fc.constantFrom('version', 'text', 'binary', 'item', 'blob', 'size')
    forAll(fc.jsonValue(), member, (value, name) => {
      const text = JSON.stringify({ version: 1, [name]: [value, secret] })
      try {
        parseItemFile(text)
      } catch (error) {
        assert.ok(error instanceof TypeError, 'a TypeError and nothing else')
        assert.equal(error.message.includes(secret), false)
      }
    })
  })

  it('says what is wrong with it', () => {
    const { item, blob } = SAMPLE
    for (const [path, broken] of Object.entries({
      'binary.item.size': { item: { ...item, size: -1 }, blob },
      'binary.item.contentHash': { item: { ...item, contentHash: 'x' }, blob },
      'binary.item.contentId': { item: { ...item, contentId: HASH }, blob },
      'binary.item.dataName': { item: { ...item, dataName: '../x' }, blob },
      'binary.item': { item: { ...item, type: 'Text' }, blob },
      'binary.blob.name': { item, blob: { ...blob, name: '../../etc/passwd' } },
      'binary.blob.group': { item, blob: { group: '../blobs', blake3: HASH } },
      'binary.blob': { item, blob: { blake3: HASH } },
    })) {
      const text = JSON.stringify({ version: 1, binary: broken })
      const refusal = { name: 'TypeError', message: new RegExp(`"${path}"`) }
      assert.throws(() => parseItemFile(text), refusal)
    }
  })

  it('is read with a media type that no header may have, as bytes of no known type', () => {
    const { item, blob } = SAMPLE
    for (const mediaType of ['application/pdf\t;x=1', 'application/x-caf\xe9']) {
      const text = JSON.stringify({ version: 1, binary: { item: { ...item, mediaType }, blob } })
      assert.equal(parseItemFile(text).binary?.item.mediaType, 'application/octet-stream')
    }
  })

  it('is what an earlier version reads, unless that would not know where the bytes are', () => {
    const version = (blob: BlobReference) => {
      const file = { text: undefined, binary: { ...SAMPLE, blob }, unsaved: undefined }
      return JSON.parse(formatItemFile(file)).version
    }
    const name = 'ab'.repeat(16)
    const file = { path: '/a', ino: '1', mtimeNs: '1', modifiedAt: 1 }
    assert.equal(version({ name, blake3: HASH }), 1)
    assert.equal(version({ file, blake3: HASH }), 1)
    // An earlier version refuses to start, and says that a newer one wrote it.
    assert.equal(version({ group: name, blake3: HASH }), 2)
  })
})
