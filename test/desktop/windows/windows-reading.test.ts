import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { PNG } from 'pngjs'
import { systemClock } from '../../../src/lib/clock.ts'
import { encodeBitmap, encodeBitmapV5 } from '../../../src/desktop/windows/bitmap.ts'
import { openReconciler } from '../support/open-reconciler.ts'
import { ForeignProgram } from './support/foreign-program.ts'
import { NEEDS_WINDOWS, openOnWindows } from './support/open-windows.ts'

/** A red pixel and a blue one, which can be seen through. */
const PICTURE = { width: 2, height: 1, pixels: Buffer.from('0000ffff' + 'ff000080', 'hex') }

const SECRET = textOf('secret')
const NO = Buffer.alloc(4)

async function open(t: TestContext) {
  const other = new ForeignProgram(t)
  const opened = await openReconciler(systemClock, openOnWindows)
  t.after(() => opened.clipboard.close())
  return { other, ...opened }
}

describe('A copy on Windows', { ...NEEDS_WINDOWS, timeout: 120_000 }, () => {
  const bitmaps = [
    ['CF_DIBV5', encodeBitmapV5(PICTURE), 'ff0000ff' + '0000ff80'],
    ['CF_DIB', encodeBitmap(PICTURE), 'ff0000ff' + '7f7fffff'],
  ] as const
  for (const [format, bytes, pixels] of bitmaps) {
    it(`is shared as a PNG when it is a bitmap: ${format}`, async (t) => {
      const { other, copies } = await open(t)
      await other.copy({ [format]: bytes })
      const copy = await copies.next()
      assert.ok(copy.kind === 'image' && copy.mediaType === 'image/png')
      assert.equal(PNG.sync.read(Buffer.from(copy.bytes)).data.toString('hex'), pixels)
    })
  }

  it('is shared as the PNG that comes with a bitmap', async (t) => {
    const { other, copies } = await open(t)
    const png = PNG.sync.write(new PNG({ width: 2, height: 1 }))
    await other.copy({ CF_DIB: encodeBitmap(PICTURE), PNG: png })
    const copy = await copies.next()
    assert.ok(copy.kind === 'image' && Buffer.from(copy.bytes).equals(png))
  })

  const marks = [
    ['ExcludeClipboardContentFromMonitorProcessing', Buffer.from('1')],
    ['Clipboard Viewer Ignore', Buffer.from('1')],
    ['CanIncludeInClipboardHistory', NO],
    ['CanUploadToCloudClipboard', NO],
  ] as const
  for (const [mark, value] of marks) {
    it(`is not shared when it is marked ${mark}`, async (t) => {
      const { other, copies } = await open(t)
      await other.copy({ CF_UNICODETEXT: SECRET, [mark]: value })
      await other.copy({
        CF_UNICODETEXT: textOf('for all'),
        CanUploadToCloudClipboard: textOf('1'),
      })
      assert.deepEqual(await copies.next(), { kind: 'text', text: 'for all' })
      assert.equal(copies.size, 0)
    })
  }

  it('waits until the program that has the clipboard open lets go of it, as an offer does', async (t) => {
    const { other, copies, troubles, clipboard } = await open(t)
    await other.hold()
    const offer = clipboard.offer({ kind: 'text', text: 'pushed meanwhile' })
    await assert.rejects(offer, /holds the clipboard/)
    assert.equal(await troubles.next(), 'Another program holds the clipboard')
    await other.release()
    assert.deepEqual(await troubles.next(), { isOver: true })
    const pasted = await other.paste('CF_UNICODETEXT')
    assert.equal(pasted?.toString('utf16le'), 'pushed meanwhile\0')
    await other.copy({ CF_UNICODETEXT: textOf('copied') })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'copied' })
  })
})

function textOf(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le')
}
