/** The real script, on a made-up AppKit: see `support/app-kit.js`. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { blobOf } from '../../support/memory-blob.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import {
  makeSystem,
  openHelperClipboard,
  OSASCRIPT,
  SCRIPT,
} from '../helper/support/open-helper-clipboard.ts'
import { ITEM_END, tiffOf } from './support/app-kit.js'

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const PIXELS = Buffer.from('pixels')
const PNG = Buffer.concat([PNG_SIGNATURE, PIXELS])

describe('macos-helper.js', { timeout: 60_000 }, () => {
  it('makes a PNG of a TIFF that is copied', async (t) => {
    const { system, copies } = await openHelperClipboard(t, 'macos')
    system.put({ 'public.tiff': tiffOf(2, 3, PIXELS) })
    assert.deepEqual(await copies.next(), { kind: 'image', mediaType: 'image/png', bytes: PNG })
  })

  it('does not unpack a picture of absurdly many pixels, nor one that is none', async (t) => {
    for (const tiff of [tiffOf(65_536, 65_536, PIXELS), Buffer.from('no picture')]) {
      const system = await makeSystem(t)
      system.put({ 'public.tiff': tiff })
      const options = { system, readAtStart: true }
      const { copies, troubles } = await openHelperClipboard(t, 'macos', options)
      system.put({ 'public.jpeg': 'a photo' })
      const bytes = Buffer.from('a photo')
      assert.deepEqual(await copies.next(), { kind: 'image', mediaType: 'image/jpeg', bytes })
      assert.equal(copies.size + troubles.size, 0)
    }
  })

  it('finds the paths of files that the Finder names by number, and skips others', async (t) => {
    const path = await temporaryFile(t, 'ä file', 'bytes')
    const { system, copies } = await openHelperClipboard(t, 'macos')
    const id = Buffer.from(pathToFileURL(path).href).toString('base64url')
    const others = ['file:///.file/id=gone', 'https://example.com/', 'no url']
    const urls = [`file:///.file/id=${id}`, ...others]
    system.put({ 'public.file-url': JSON.stringify(urls) })
    assert.deepEqual(await copies.next(), { kind: 'files', paths: [path] })
  })

  it('offers other images as PNG too, when macOS knows them', async (t) => {
    const { clipboard, system } = await openHelperClipboard(t, 'macos')
    await clipboard.offer(await imageOf('image/tiff', tiffOf(2, 3, PIXELS)))
    assert.deepEqual(Object.keys(system.state.types), ['public.tiff', 'public.png'])
    assert.deepEqual(system.bytesOf('public.png'), PNG)
    await clipboard.offer(await imageOf('image/webp', Buffer.from('unknown here')))
    assert.deepEqual(Object.keys(system.state.types), ['org.webmproject.webp'])
    await clipboard.offer(await imageOf('image/png', PNG))
    assert.deepEqual(Object.keys(system.state.types), ['public.png'])
  })

  it('offers a photo as PNG only when it stands upright as it is', async (t) => {
    const { clipboard, system } = await openHelperClipboard(t, 'macos')
    for (const [name, types] of [
      ['images/rgb.jpg', ['public.jpeg', 'public.png']],
      ['photos/lying.jpg', ['public.jpeg']],
    ] as const) {
      const bytes = await readFile(new URL(`../../../fixtures/${name}`, import.meta.url))
      await clipboard.offer(await imageOf('image/jpeg', bytes))
      assert.deepEqual(Object.keys(system.state.types), types)
    }
  })

  it('refuses an image that macOS has no name for', async (t) => {
    const { clipboard } = await openHelperClipboard(t, 'macos')
    const image = await imageOf('image/x-odd', PNG)
    await assert.rejects(clipboard.offer(image), /no name for this kind of image/)
  })

  it('says when macOS lets nobody read, or asks each time, and reads nothing then', async (t) => {
    const { system, copies, troubles } = await openHelperClipboard(t, 'macos')
    for (const [access, says] of [
      [3, /does not let clipgate read/],
      [1, /asks before it lets clipgate read/],
    ] as const) {
      system.put({ 'public.utf8-plain-text': 'guarded' }, { access })
      assert.match(String(await troubles.next()), says)
      system.put({ 'public.utf8-plain-text': `allowed after ${access}` })
      assert.deepEqual(await copies.next(), { kind: 'text', text: `allowed after ${access}` })
      assert.deepEqual(await troubles.next(), { isOver: true })
    }
  })

  it('reads each of several texts that are copied at once', async (t) => {
    const { system, copies } = await openHelperClipboard(t, 'macos')
    system.put({ 'public.utf8-plain-text': `one${ITEM_END}two` })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'one\ntwo' })
  })

  it('leaves alone what a phone or another Mac offers', async (t) => {
    const { system, copies } = await openHelperClipboard(t, 'macos')
    system.put({ 'public.utf8-plain-text': 'there', 'com.apple.is-remote-clipboard': '' })
    system.put({ 'public.utf8-plain-text': 'here' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'here' })
  })

  it('takes requests that come byte by byte, cut inside of characters', async (t) => {
    const { folder } = await makeSystem(t)
    const args = [OSASCRIPT, '-l', 'JavaScript', SCRIPT, folder]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    assert.deepEqual(JSON.parse((await lines.next()).value), { event: 'ready' })
    const request = { id: 7, do: 'read', change: 100, type: 'ä 世界 👋', maxBytes: 1, file: '' }
    for (const byte of Buffer.from(`${JSON.stringify(request)}\n`)) {
      await new Promise((resolve) => child.stdin.write(Buffer.of(byte), resolve))
    }
    const reply = { reply: 7, outcome: 'absent', change: 100 }
    assert.deepEqual(JSON.parse((await lines.next()).value), reply)
    const ended = once(child, 'exit')
    child.stdin.end()
    assert.deepEqual(await ended, [0, null])
  })
})

async function imageOf(mediaType: string, bytes: Uint8Array) {
  return { kind: 'image', mediaType, blob: await blobOf(bytes) } as const
}
