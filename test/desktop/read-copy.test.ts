import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { COPY_LIMITS, readCopy, type CopySource } from '../../src/desktop/read-copy.ts'
import type { CopiedContent } from '../../src/ports/system-clipboard.ts'

type Formats = Readonly<Record<string, string | Uint8Array | undefined>>

/** Reads a copy offered in these formats; one that is `undefined` is refused. */
function read(formats: Formats): Promise<CopiedContent | undefined> {
  const source: CopySource = {
    targets: async () => Object.keys(formats),
    read: async (target) => {
      const data = formats[target]
      return data === undefined ? undefined : Buffer.from(data)
    },
  }
  return readCopy(source, COPY_LIMITS)
}

const latin1 = Buffer.from('gr\xfc\xdfe', 'latin1')

describe('readCopy()', () => {
  it('reads text in the encoding of its format', async () => {
    const wanted = { kind: 'text', text: 'grüße' }
    assert.deepEqual(await read({ UTF8_STRING: 'grüße' }), wanted)
    assert.deepEqual(await read({ 'text/plain;charset=UTF-8': 'grüße' }), wanted)
    assert.deepEqual(await read({ STRING: latin1 }), wanted)
  })

  it('reads plain text of unknown encoding as UTF-8 if it can be, else as Latin-1', async () => {
    assert.deepEqual(await read({ 'text/plain': 'grüße' }), { kind: 'text', text: 'grüße' })
    assert.deepEqual(await read({ 'text/plain': latin1 }), { kind: 'text', text: 'grüße' })
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
      {}, { UTF8_STRING: '' }, { UTF8_STRING: '\0' }, { 'image/png': '' }, { 'text/html': '<b>' },
      { 'text/uri-list': 'file:///no/such/file' }, { 'text/uri-list': latin1 },
    ]
    for (const formats of nothing) assert.equal(await read(formats), undefined)
  })

  it('does not read what is marked as secret, nor when the mark cannot be read', async () => {
    const mark = 'x-kde-passwordManagerHint'
    for (const hint of ['secret', 'secret\0', ' secret\n', undefined]) {
      assert.equal(await read({ UTF8_STRING: 'x', [mark]: hint }), undefined)
    }
    const marked = { UTF8_STRING: 'x', [mark]: 'public' }
    assert.deepEqual(await read(marked), { kind: 'text', text: 'x' })
  })

  it('asks for no more bytes than its limits say', async () => {
    const asked: [string, number][] = []
    const source: CopySource = {
      targets: async () => ['UTF8_STRING', 'image/png', 'text/uri-list'],
      read: async (target, maxBytes) => void asked.push([target, maxBytes]),
    }
    await readCopy(source, { ...COPY_LIMITS, maxTextBytes: 1, maxImageBytes: 2 })
    assert.deepEqual(asked, [['text/uri-list', 1], ['UTF8_STRING', 1], ['image/png', 2]])
  })
})
