import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import { PNG } from 'pngjs'
import { decodeBitmap } from '../../../src/desktop/windows/bitmap.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { ImageFile } from '../../../src/ports/system-clipboard.ts'
import { blobOf } from '../../support/memory-blob.ts'
import { openReconciler } from '../support/open-reconciler.ts'
import { ForeignProgram } from './support/foreign-program.ts'
import { NEEDS_WINDOWS, openOnWindows } from './support/open-windows.ts'

async function offer(t: TestContext, mediaType: string, bytes: Uint8Array, file?: ImageFile) {
  const other = new ForeignProgram(t)
  const { clipboard } = await openReconciler(systemClock, openOnWindows)
  t.after(() => clipboard.close())
  const blob = await blobOf(bytes)
  await clipboard.offer({ kind: 'image', mediaType, blob, ...(file && { file }) })
  const paste = async (format: string) => (await other.paste(format)) ?? Buffer.alloc(0)
  return { paste, bitmap: async (format: string) => decodeBitmap(await paste(format)) }
}

describe('An image that is offered on Windows', { ...NEEDS_WINDOWS, timeout: 120_000 }, () => {
  it('is a bitmap as well, with what shows through, and on white', async (t) => {
    const png = new PNG({ width: 2, height: 1 })
    png.data = Buffer.from('ff0000ff' + '0000ff80', 'hex')
    const bytes = PNG.sync.write(png)
    const { paste, bitmap } = await offer(t, 'image/png', bytes)
    assert.ok((await paste('PNG')).equals(bytes))
    const [through, flat] = [await bitmap('CF_DIBV5'), await bitmap('CF_DIB')]
    assert.equal(Buffer.from(through?.pixels ?? []).toString('hex'), '0000ffff' + 'ff000080')
    assert.equal(Buffer.from(flat?.pixels ?? []).toString('hex'), '0000ffff' + 'ff7f7fff')
  })

  it('stands upright in every format when it is a photo that says which way is up', async (t) => {
    const photo = await readFile(new URL('../../../fixtures/photos/lying.jpg', import.meta.url))
    const { paste, bitmap } = await offer(t, 'image/jpeg', photo)
    assert.ok((await paste('JFIF')).equals(photo))
    const png = PNG.sync.read(await paste('PNG'))
    const dib = await bitmap('CF_DIB')
    assert.deepEqual([png.width, png.height, dib?.width, dib?.height], [8, 16, 8, 16])
    // The stored picture is 16 wide and red on its left, which is to be the top.
    const [top, bottom] = [png.data.subarray(0, 3), png.data.subarray(-4, -1)]
    assert.ok((top[0] ?? 0) > 200 && (top[2] ?? 0) < 60, `red, not ${top.join()}`)
    assert.ok((bottom[2] ?? 0) > 200 && (bottom[0] ?? 0) < 60, `blue, not ${bottom.join()}`)
  })

  it('is a file as well, so that a folder takes it, where it can be saved', async (t) => {
    const photo = await readFile(new URL('../../../fixtures/photos/lying.jpg', import.meta.url))
    const path = 'C:\\Users\\Zoë\\Downloads\\clipgate\\写真 1.jpg'
    const { paste } = await offer(t, 'image/jpeg', photo, { path, save: async () => path })
    const names = (await paste('CF_HDROP')).subarray(20).toString('utf16le')
    assert.equal(names.split('\0')[0], path)
    assert.deepEqual([...(await paste('Preferred DropEffect'))].slice(0, 4), [1, 0, 0, 0])
    assert.ok((await paste('JFIF')).equals(photo))
  })

  it('is an image alone where it cannot be saved', async (t) => {
    const bytes = PNG.sync.write(new PNG({ width: 1, height: 1 }))
    const save = () => Promise.reject(new Error('The disk is full'))
    const { paste } = await offer(t, 'image/png', bytes, { path: undefined, save })
    assert.ok((await paste('PNG')).equals(bytes))
    assert.equal((await paste('CF_HDROP')).length, 0)
  })

  it('is offered as it is when Windows cannot read it', async (t) => {
    const bytes = Buffer.from('89504e470d0a1a0a' + '00', 'hex')
    const { paste } = await offer(t, 'image/png', bytes)
    assert.ok((await paste('PNG')).equals(bytes))
    assert.equal((await paste('CF_DIB')).length, 0)
  })
})
