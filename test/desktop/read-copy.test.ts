import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CopyTooLarge } from '../../src/desktop/clipboard-errors.ts'
import {
  COPY_LIMITS,
  readCopy,
  type CopyLimits,
  type CopySource,
  type LeftOut,
} from '../../src/desktop/read-copy.ts'
import type { CopiedContent } from '../../src/ports/system-clipboard.ts'
import fc, { forAllAsync } from '../support/property.ts'

const NEVER = new AbortController().signal

type Formats = Readonly<Record<string, string | Uint8Array | undefined>>

/** Reads a copy offered in these formats; one that is `undefined` is refused. */
function read(
  formats: Formats,
  limits: Partial<CopyLimits> = {},
  asked: string[] = [],
): Promise<CopiedContent | undefined> {
  const source: CopySource = {
    targets: async () => Object.keys(formats),
    read: async (target, maxBytes) => {
      asked.push(target)
      const data = formats[target]
      if (data === undefined) return undefined
      const bytes = Buffer.from(data)
      if (bytes.length > maxBytes) throw new CopyTooLarge({ maxBytes, size: bytes.length })
      return bytes
    },
  }
  return readCopy(source, { ...COPY_LIMITS, ...limits }, NEVER)
}

const latin1 = Buffer.from('gr\xfc\xdfe', 'latin1')

describe('readCopy()', () => {
  it('reads text in the encoding of its format', async () => {
    const rows: Formats[] = [
      { UTF8_STRING: 'grüße' },
      { 'text/plain;charset=UTF-8': 'grüße' },
      { STRING: latin1 },
      // Plain text of unknown encoding is UTF-8 if it can be, else Latin-1.
      { 'text/plain': 'grüße' },
      { 'text/plain': latin1 },
    ]
    for (const row of rows) assert.deepEqual(await read(row), { kind: 'text', text: 'grüße' })
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const everyCharacter = String.fromCharCode(...all)
    assert.deepEqual(await read({ STRING: all }), { kind: 'text', text: everyCharacter })
  })

  it('takes the next format when one is not what it says, or is refused', async () => {
    assert.deepEqual(await read({ UTF8_STRING: latin1, STRING: 'a' }), { kind: 'text', text: 'a' })
    const refused = { UTF8_STRING: undefined, STRING: 'a' }
    assert.deepEqual(await read(refused), { kind: 'text', text: 'a' })
    assert.equal(await read({ UTF8_STRING: latin1 }), undefined)
  })

  it('keeps a byte order mark and line ends, and drops the NUL of a C string', async () => {
    const text = '\ufeffa\r\nb\n'
    assert.deepEqual(await read({ UTF8_STRING: `${text}\0` }), { kind: 'text', text })
  })

  it('finds nothing in what is empty or unknown', async () => {
    const nothing: Formats[] = [
      {},
      { UTF8_STRING: '' },
      { UTF8_STRING: '\0' },
      { 'image/png': '' },
      { 'text/html': '<b>' },
      { 'text/uri-list': 'file:///no/such/file' },
      { 'text/uri-list': latin1 },
    ]
    for (const formats of nothing) assert.equal(await read(formats), undefined)
  })

  it('looks for no more files than are shared together, however long a list is', async () => {
    const [here, missing] = [import.meta.url, 'file:///no/such/file\n'.repeat(10_001)]
    const paths = [new URL(here).pathname, '/no/such/file']
    const many = await read({ 'text/uri-list': `${here}\n${missing}`, UTF8_STRING: 'a' })
    assert.deepEqual(many, { kind: 'files', paths })
    const late = await read({ 'text/uri-list': `${missing}${here}\n`, UTF8_STRING: 'a' })
    assert.deepEqual(late, { kind: 'text', text: 'a' })
  })

  it('does not read what is marked as secret, nor when the mark cannot be read', async () => {
    const mark = 'x-kde-passwordManagerHint'
    const hints = ['secret', 'secret\0', ' secret\n', 'SECRET', 'Secret\r\n\0', undefined]
    for (const hint of hints) {
      for (const target of ['UTF8_STRING', 'image/png']) {
        assert.equal(await read({ [target]: 'x', [mark]: hint }), undefined)
      }
      const uri = import.meta.url
      assert.equal(await read({ 'text/uri-list': uri, UTF8_STRING: uri, [mark]: hint }), undefined)
    }
    // Too long to be a mark, and not to be trusted.
    assert.equal(await read({ UTF8_STRING: 'x', [mark]: 'x'.repeat(2000) }), undefined)
    const marked = { UTF8_STRING: 'x', [mark]: 'public' }
    assert.deepEqual(await read(marked), { kind: 'text', text: 'x' })
  })

  it('says the kind and the size of what is too large', async () => {
    await assert.rejects(read({ UTF8_STRING: 'four' }, { maxTextBytes: 3 }), {
      name: 'CopyTooLarge',
      message: 'What was copied is larger than 3 bytes: not shared (text, at least 4 bytes)',
    })
    const image = { 'image/png': new Uint8Array(3 * 2 ** 20) }
    await assert.rejects(
      read(image, { maxImageBytes: 2 ** 20 }),
      /1 MiB: .*\(image, at least 3 MiB\)/,
    )
  })

  it('shares only some kinds if told so, and nothing else in their place', async () => {
    const file = {
      'text/uri-list': import.meta.url,
      UTF8_STRING: new URL(import.meta.url).pathname,
    }
    const cells = { 'text/plain': 'cells', 'image/png': 'P' }
    const picture = { 'text/html': '<img>', 'image/png': 'P' }
    const cases = [
      [file, ['text', 'image'], { kind: 'files', size: undefined }],
      [cells, ['image', 'files'], { kind: 'text', size: 5 }],
      [{ UTF8_STRING: 'four' }, ['image'], { kind: 'text', size: 4 }],
      [picture, ['text', 'files'], { kind: 'image', size: undefined }],
      // It is text all the same, and no trouble, when it is larger than what is shared.
      [{ UTF8_STRING: 'four' }, ['files'], { kind: 'text', size: 4 }, 3],
    ] as const
    for (const [formats, types, wanted, maxTextBytes = 1000] of cases) {
      const leftOut: LeftOut[] = []
      const asked: string[] = []
      const onLeftOut = (left: LeftOut) => void leftOut.push(left)
      const limits = { types, maxTextBytes, onLeftOut }
      assert.equal(await read(formats, limits, asked), undefined)
      assert.deepEqual(leftOut, [wanted])
      assert.ok(!asked.includes('image/png'), 'no image is read for that')
    }
    assert.deepEqual(
      await read({ 'text/uri-list': 'https://a', 'image/png': 'P' }, { types: ['image'] }),
      { kind: 'image', mediaType: 'image/png', bytes: Buffer.from('P') },
    )
  })

  it('asks for no more bytes than its limits say', async () => {
    const asked: [string, number][] = []
    const source: CopySource = {
      targets: async () => ['UTF8_STRING', 'image/png', 'text/uri-list'],
      read: async (target, maxBytes) => void asked.push([target, maxBytes]),
    }
    await readCopy(source, { ...COPY_LIMITS, maxTextBytes: 1, maxImageBytes: 2 }, NEVER)
    assert.deepEqual(asked, [
      ['text/uri-list', 1],
      ['UTF8_STRING', 1],
      ['image/png', 2],
    ])
  })
})

/** All formats that are read, best first. */
const KNOWN = [
  'text/uri-list',
  'x-special/gnome-copied-files',
  'UTF8_STRING',
  'text/plain;charset=utf-8',
  'text/plain',
  'STRING',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/tiff',
]
const UNKNOWN = ['text/html', 'TIMESTAMP', 'image/svg+xml', 'application/pdf', 'toString']

describe('the order of reading', () => {
  it('is files, text and images that are known, and never HTML, whatever theirs is', () =>
    forAllAsync(fc.shuffledSubarray([...KNOWN, ...UNKNOWN]), async (offered) => {
      const asked: string[] = []
      const refused = Object.fromEntries(offered.map((target) => [target, undefined]))
      assert.equal(await read(refused, {}, asked), undefined)
      assert.deepEqual(
        asked,
        KNOWN.filter((target) => offered.includes(target)),
      )
    }))
})
