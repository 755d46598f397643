import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameSiblings } from '../../src/storage/blobs/copied-tree.ts'
import fc, { forAll } from '../support/property.ts'

function named(...fileNames: readonly (string | Buffer)[]): readonly string[] {
  const siblings = fileNames.map((name) => {
    const fileName = Buffer.from(name)
    return { path: Buffer.concat([Buffer.from('/x/'), fileName]), fileName }
  })
  const segments = nameSiblings(siblings)
  return siblings.map(({ path }) => {
    return segments.find((segment) => segment.path.equals(path))?.name ?? 'none'
  })
}

/** A name of a file on the disk: bytes, but for `/` and NUL. */
const fileNames = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 255 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('C:', 'c:\\windows', '..\\..\\x', '\\\\host\\share', 'a', 'a (2)', 'A')
      .map((text) => Buffer.from(text)),
  )
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0 && byte !== 0x2f)))
  .filter((bytes) => bytes.length > 0 && !['.', '..'].includes(bytes.toString()))

describe('names in an archive', () => {
  it('are those of the files wherever they can be', () => {
    const names = [
      ...'plain .hidden q\'uo"te 🙂 ab:c 写真.jpg'.split(' '),
      'sp ace',
      'x'.repeat(255),
    ]
    assert.deepEqual(named(...names), names)
  })

  it('are never paths of another system, nor obeyed by a terminal', () => {
    const names = named('C:\\x', 'c:', '..\\x', 'a\nb', 'a\u001b[31m')
    assert.deepEqual(names, ['C__x', 'c_', '.._x', 'a_b', 'a_[31m'])
  })

  it('have replacements for what is not UTF-8, and numbers where they are equal then', () => {
    const invalid = (byte: number) => Buffer.from([0x61, byte, 0x2e, 0x62])
    const names = named(invalid(0xff), invalid(0xfe), 'a\\b', 'a_b', 'a_b (2)')
    assert.deepEqual(names, ['a\ufffd (2).b', 'a\ufffd.b', 'a_b (3)', 'a_b', 'a_b (2)'])
  })

  it('are safe and all different, and the same whatever the order', () => {
    const folders = fc.uniqueArray(fileNames, { selector: (name) => name.toString('hex') })
    forAll(folders, (files) => {
      const names = named(...files)
      assert.equal(new Set(names).size, names.length)
      for (const name of names) {
        assert.equal(/[/\\\u0000-\u001f]|^[a-z]:|^\.{0,2}$/i.test(name), false, name)
        assert.equal(name.isWellFormed(), true)
      }
      assert.deepEqual(named(...files.toReversed()).toReversed(), names)
    })
  })

  it('are found quickly although thousands are equal', () => {
    const siblings = Array.from({ length: 9_000 }, (_, index) => ({
      path: Buffer.from(String(index)),
      fileName: Buffer.from('a\\b'),
    }))
    assert.equal(new Set(nameSiblings(siblings).map(({ name }) => name)).size, 9_000)
  })
})
