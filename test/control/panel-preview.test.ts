import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { previewKind } from '../../src/control/panel-state.ts'
import { MIB } from '../../src/core/limits.ts'
import type { StoredItem } from '../../src/ports/latest-item.ts'
import fc, { forAll } from '../support/property.ts'
import { bytesItem, textItem } from './support/items.ts'
import { openControl, OWNER } from './support/open-control.ts'

const HEADERS = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
}

const PNG = Buffer.from('\x89PNG\r\n\x1a\nbytes', 'latin1')

async function preview(t: TestContext, item: StoredItem | undefined) {
  const { ask, panel } = await openControl(t)
  panel.item = item
  const { body, ...rest } = await ask('/item/preview', { headers: OWNER })
  return { ...rest, body, ask }
}

describe('the preview of the current item', () => {
  it('is the beginning of a text, as plain text whatever it says', async (t) => {
    const text = '<script>alert(1)</script>\u0000 ü'
    const { status, headers, body } = await preview(t, await textItem(text))
    assert.deepEqual([status, body], [200, text])
    const expected = { 'content-type': 'text/plain; charset=utf-8', ...HEADERS }
    assert.deepEqual({ ...headers, ...expected }, { ...headers })
  })

  it('is no more of a text than 2,000 characters, and no half ones', async (t) => {
    const samples = ['x'.repeat(16 * MIB), '👋'.repeat(5000), `x${'👋'.repeat(5000)}`]
    for (const text of samples) {
      const { body } = await preview(t, await textItem(text))
      assert.equal([...body].length, 2000)
      assert.ok(text.startsWith(body), 'the beginning')
    }
  })

  it('is an image, byte for byte, when browsers draw and do not run it', async (t) => {
    for (const type of ['png', 'jpeg', 'gif', 'webp', 'bmp', 'avif']) {
      const mediaType = `Image/${type.toUpperCase()} ; charset=x`
      const { status, headers, body } = await preview(t, await bytesItem({ mediaType, bytes: PNG }))
      assert.deepEqual([status, body], [200, PNG.toString('utf8')])
      const expected = { 'content-type': `image/${type}`, ...HEADERS }
      assert.deepEqual({ ...headers, ...expected }, { ...headers })
    }
  })

  it('is none of anything that a browser would run, or that is no image', async (t) => {
    const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>')
    const drawn = ['image/svg+xml', 'image/svg', 'image/*', 'image/tiff', 'image/heic']
    const run = ['text/html', 'application/xhtml+xml', 'text/xml', 'image/png,text/html']
    const odd = ['application/octet-stream', '', 'image/png\u0000']
    for (const mediaType of [...drawn, ...run, ...odd]) {
      const { status, body } = await preview(t, await bytesItem({ mediaType, bytes }))
      assert.equal(status, 404, mediaType)
      assert.doesNotMatch(body, /svg|script/)
    }
  })

  it('is none of a file, of a large image, or where there is nothing', async (t) => {
    for (const type of ['File', 'Group'] as const) {
      assert.equal((await preview(t, await bytesItem({ type, bytes: PNG }))).status, 404)
    }
    const large = await bytesItem({ bytes: PNG, size: 20 * MIB + 1 })
    assert.equal((await preview(t, large)).status, 404)
    const { item, blob } = await bytesItem({ bytes: PNG, size: 20 * MIB })
    assert.equal(previewKind(item, blob), 'image')
    assert.equal((await preview(t, undefined)).status, 404)
  })

  it('is none of an image whose bytes are gone', async (t) => {
    const stored = await bytesItem({ bytes: PNG })
    assert.ok(stored.blob !== undefined && 'discard' in stored.blob, 'a blob that can go')
    await (stored.blob as { discard(): Promise<void> }).discard()
    const { status } = await preview(t, stored)
    assert.equal(status, 404)
  })

  it('is sent once as long as it is the same', async (t) => {
    const stored = await textItem('hello')
    const { headers, ask } = await preview(t, stored)
    assert.equal(headers['etag'], `"${stored.item.contentId}"`)
    const again = await ask('/item/preview', {
      headers: { ...OWNER, 'If-None-Match': String(headers['etag']) },
    })
    assert.deepEqual([again.status, again.body], [304, ''])
  })

  it('is never HTML, whatever devices say', async () => {
    const known = fc.constantFrom('image/png', 'image/svg+xml', 'text/html', 'image/')
    const types = fc.oneof(
      fc.string(),
      fc.tuple(known, fc.string()).map((parts) => parts.join('')),
    )
    const { item, blob } = await bytesItem({ bytes: PNG })
    forAll(types, (mediaType) => {
      const kind = previewKind({ ...item, mediaType }, blob)
      if (kind === undefined) return
      assert.match(mediaType, /^\s*image\/(?:png|jpeg|gif|webp|bmp|avif)\s*(?:;|$)/i)
    })
  })
})
