import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatCopiedFiles, formatUriList, parseUriList } from '../../src/desktop/uri-list.ts'
import fc, { forAll } from '../support/property.ts'

/** Absolute paths of Linux: anything but NUL. Line ends are percent-encoded, so they may occur. */
const path = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 20 })
  .map((name) => `/${name.replaceAll('\0', '')}`)
const paths = fc.array(path, { maxLength: 5 })

describe('parseUriList()', () => {
  it('reads the local files of a list in order, and skips everything else', () => {
    const text = [
      '# a comment',
      'file:///home/me/b%20c.txt',
      'https://example.org/file',
      'FILE://localhost/a',
      'file://desk.example/b',
      'file:/c',
      'file://other.example/d',
      '/not/a/uri',
      '',
    ].join('\r\n')
    assert.deepEqual(parseUriList(text, 'Desk.example'), ['/home/me/b c.txt', '/a', '/b', '/c'])
  })

  it('reads what file managers copy, with "copy" or "cut" in front', () => {
    assert.deepEqual(parseUriList('copy\nfile:///a\nfile:///b', ''), ['/a', '/b'])
    assert.deepEqual(parseUriList('cut\nfile:///a\0', ''), ['/a'])
  })

  it('skips what is not a well-formed URI of a file', () => {
    const malformed = ['file:', 'file://', 'file://a', 'file:a', 'file:///a?b', 'file:///a#b']
    const badEscapes = ['%', '%4', '%zz', 'a%2Fb', 'a%2fb', 'a%00b', '%ff', '%ed%a0%80']
    for (const uri of [...malformed, ...badEscapes.map((name) => `file:///${name}`)]) {
      assert.deepEqual(parseUriList(uri, ''), [], uri)
    }
  })

  it('gives absolute paths without NUL, whatever it is given, and never throws', () =>
    forAll(fc.string({ unit: 'binary' }), fc.string(), (text, hostname) => {
      for (const candidate of [text, `file://${text}`, `file:///${text}`]) {
        for (const path of parseUriList(candidate, hostname)) {
          assert.ok(path.startsWith('/') && !path.includes('\0'))
        }
      }
    }))
})

describe('formatUriList()', () => {
  it('escapes what is special, and ends each line with CRLF', () => {
    assert.equal(formatUriList(['/a b', '/ü#?%']), 'file:///a%20b\r\nfile:///%C3%BC%23%3F%25\r\n')
    assert.equal(formatUriList([]), '')
  })

  it('is undone by parseUriList()', () =>
    forAll(paths, (list) => {
      const wanted = list.map((path) => path.toWellFormed())
      assert.deepEqual(parseUriList(formatUriList(list), ''), wanted)
      assert.deepEqual(parseUriList(formatCopiedFiles(list), ''), wanted)
    }))

  it('writes nothing but printable ASCII and line ends', () =>
    forAll(paths, (list) => assert.match(formatUriList(list), /^[!-~\r\n]*$/)))
})

describe('formatCopiedFiles()', () => {
  it('has the word in front and no line end at the end', () => {
    assert.equal(formatCopiedFiles(['/a', '/b']), 'copy\nfile:///a\nfile:///b')
  })
})
