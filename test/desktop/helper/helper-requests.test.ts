import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import {
  readHelperCopy,
  type AskHelper,
  type FormatToRead,
} from '../../../src/desktop/helper/helper-requests.ts'
import { COPY_LIMITS } from '../../../src/desktop/read-copy.ts'
import fc, { forAllAsync } from '../../support/property.ts'

const TEXT = { kind: 'text', type: 'CF_UNICODETEXT' } as const
const FILES = { kind: 'files', type: 'CF_HDROP' } as const
const IMAGE = { kind: 'image', type: 'PNG', mediaType: 'image/png' } as const

/** What is made of the bytes that a helper reads in this format. */
async function contentOf(format: FormatToRead, bytes: Uint8Array) {
  const { type } = format
  const ask: AskHelper = async (_, fields) => {
    await writeFile(String(fields?.['file']), bytes)
    return { outcome: 'read', change: 1, bytes: bytes.length }
  }
  const dialect = {
    kind: 'windows',
    formats: [format],
    isPrivate: () => false,
    typeOf: () => type,
  } as const
  const state = { change: 1, types: [type], denied: [] }
  const deps = { ask, dialect, limits: COPY_LIMITS }
  return (await readHelperCopy(state, new AbortController().signal, deps))?.content
}

describe('What a clipboard helper read', () => {
  it('is text, without the NULs at its end', async () => {
    const content = await contentOf(TEXT, Buffer.from('\ufeffGrüße\n\0\0'))
    assert.deepEqual(content, { kind: 'text', text: '\ufeffGrüße\n' })
  })

  it('is nothing when it is empty', async () => {
    assert.equal(await contentOf(TEXT, Buffer.alloc(0)), undefined)
    assert.equal(await contentOf(TEXT, Buffer.alloc(2)), undefined)
    assert.equal(await contentOf(IMAGE, Buffer.alloc(0)), undefined)
    assert.equal(await contentOf(FILES, Buffer.from('[]')), undefined)
  })

  it('is an image as it is', async () => {
    const bytes = Buffer.from([1, 2, 3])
    const image = { kind: 'image', mediaType: 'image/png', bytes }
    assert.deepEqual(await contentOf(IMAGE, bytes), image)
  })

  it('is a list of the files that are there, with absolute paths only', async () => {
    const json = JSON.stringify(['/', 'package.json', '/no/such/file', '', '/tmp'])
    const files = { kind: 'files', paths: ['/', '/tmp'] }
    assert.deepEqual(await contentOf(FILES, Buffer.from(json)), files)
  })

  it('is refused as a list without quoting it', async () => {
    const bad = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `["/secret",${json}`),
    )
    await forAllAsync(bad, async (text) => {
      try {
        const content = await contentOf(FILES, Buffer.from(text))
        assert.ok(content === undefined || content.kind === 'files', 'files or nothing')
      } catch (error) {
        assert.ok(error instanceof Error, 'an Error')
        assert.match(
          error.message,
          /^The clipboard helper gave a list of files that cannot be read$/,
        )
        assert.equal(error.cause, undefined)
      }
    })
  })
})
