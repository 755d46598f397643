import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { needs } from '../../support/requirements.ts'
import { openBoth } from './support/open-x11.ts'
import { blobOf } from '../../support/memory-blob-store.ts'

const NEEDS = { ...needs('Xvfb'), timeout: 60_000 }

describe('what X11 hands back to us', NEEDS, () => {
  it('does not report what a program with a history takes over from it', async (t) => {
    const { other, clipboard, copies } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'pushed' })
    await other.copyUntilRead('UTF8_STRING', 'pushed')
    await other.copyUntilRead('UTF8_STRING', 'new')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'new' })
    await other.copyUntilRead('UTF8_STRING', 'pushed')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'pushed' })
  })

  it('does not report files that a program with a history takes over from it', async (t) => {
    const { other, clipboard, copies } = await openBoth(t)
    await clipboard.offer({ kind: 'files', paths: [import.meta.filename] })
    await other.copyUntilRead('text/uri-list', import.meta.url)
    await other.copyUntilRead('text/uri-list', new URL('.', import.meta.url).href)
    const paths = [import.meta.dirname + '/']
    assert.deepEqual(await copies.next(), { kind: 'files', paths })
  })

  it('does not report an image that a program takes over in another format', async (t) => {
    const { other, clipboard, copies } = await openBoth(t)
    const png = await sample('rgba.png')
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: await blobOf(png) })
    await other.copy({ 'image/tiff': await sample('rgba-lzw.tif') })
    await other.copy({ 'image/bmp': await sample('rgba.bmp') })
    const another = await sample('grey.png')
    await other.copy({ 'image/png': another })
    const copied = await copies.next()
    assert.ok(copied.kind === 'image' && another.equals(copied.bytes), 'only the other image')
    // Now it is no echo any more.
    await other.copy({ 'image/png': png })
    assert.equal((await copies.next()).kind, 'image')
    assert.equal(copies.size, 0)
  })

  it('ends a loop with a program that rewrites what it offers, and goes on later', async (t) => {
    const { other, clipboard, copies, troubles, clock } = await openBoth(t)
    let text = 'x'
    for (let round = 0; troubles.size === 0; round += 1) {
      assert.ok(round < 10, 'the loop goes on')
      await clipboard.offer({ kind: 'text', text })
      await other.copy({ UTF8_STRING: `${text}+` })
      const copied = await copies.next()
      assert.ok(copied.kind === 'text' && copied.text === `${text}+`, 'copies are still shared')
      text = copied.text
    }
    assert.match(String(await troubles.next()), /nothing is put on it for 30 s/)

    await clipboard.offer({ kind: 'text', text: 'held back' })
    assert.equal(String(await other.paste('UTF8_STRING')), text)
    await clock.pass(30_000)
    assert.deepEqual(await troubles.next(), { isOver: true })
    let change = await other.next('ownerChanged')
    while (change.owner === other.window) change = await other.next('ownerChanged')
    assert.equal(String(await other.paste('UTF8_STRING')), 'held back')
    assert.equal(troubles.size, 0)
  })
})

function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../../fixtures/images/${name}`, import.meta.url))
}
