import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { PNG } from 'pngjs'
import { KIB, MIB } from '../../../src/core/limits.ts'
import { ReceivedFolder } from '../../../src/desktop/received-folder.ts'
import { STRUCTURE_NOTIFY } from '../../../src/desktop/x11/x-connection.ts'
import type { Blob } from '../../../src/ports/blob.ts'
import { blobOf } from '../../support/memory-blob.ts'
import { fileItem } from '../../support/latest-item-contract.ts'
import { needs } from '../../support/requirements.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { openBoth, openX11, sharedXvfb } from './support/open-x11.ts'
import { watched } from './support/watched-blob.ts'
import { XClient } from './support/x-client.ts'
import { xclipPaste } from './support/xclip.ts'

const NEEDS = { ...needs('Xvfb', 'xclip'), timeout: 60_000 }

describe('X11Clipboard, when another program pastes', NEEDS, () => {
  it('gives text in every encoding that holds all of its characters', async (t) => {
    const { display } = await sharedXvfb()
    const { clipboard } = await openX11(t, display)
    await clipboard.offer({ kind: 'text', text: 'grüße' })
    for (const target of ['UTF8_STRING', 'text/plain;charset=utf-8', 'text/plain', 'TEXT']) {
      assert.equal(String(await xclipPaste(display, target)), 'grüße', target)
    }
    assert.deepEqual(await xclipPaste(display, 'STRING'), Buffer.from('gr\xfc\xdfe', 'latin1'))
    await clipboard.offer({ kind: 'text', text: '世界' })
    assert.equal(await xclipPaste(display, 'STRING'), undefined)
  })

  it('gives files to file managers, and their paths to everybody else', async (t) => {
    const { display } = await sharedXvfb()
    const { clipboard } = await openX11(t, display)
    await clipboard.offer({ kind: 'files', paths: ['/a/b c', '/a/ü'] })
    const uris = ['file:///a/b%20c', 'file:///a/%C3%BC'] as const
    assert.equal(String(await xclipPaste(display, 'text/uri-list')), uris.join('\r\n') + '\r\n')
    const copied = await xclipPaste(display, 'x-special/gnome-copied-files')
    assert.equal(String(copied), `copy\n${uris.join('\n')}`)
    assert.equal(String(await xclipPaste(display, 'UTF8_STRING')), '/a/b c\n/a/ü')
  })

  it('gives a photo as PNG too, upright, to programs that paste nothing else', async (t) => {
    const { display } = await sharedXvfb()
    const { clipboard } = await openX11(t, display)
    const photo = await readFile(new URL('../../../fixtures/photos/lying.jpg', import.meta.url))
    await clipboard.offer({ kind: 'image', mediaType: 'image/jpeg', blob: await blobOf(photo) })
    const targets = String(await xclipPaste(display, 'TARGETS')).split('\n')
    assert.ok(targets.indexOf('image/jpeg') < targets.indexOf('image/png'), 'its own type first')
    const png = PNG.sync.read((await xclipPaste(display, 'image/png')) ?? Buffer.alloc(0))
    assert.deepEqual([png.width, png.height], [8, 16])
    assert.deepEqual(await xclipPaste(display, 'image/jpeg'), photo)
    // One that cannot be converted is refused, and its own bytes are there all the same.
    const damaged = photo.subarray(0, photo.length / 2)
    await clipboard.offer({ kind: 'image', mediaType: 'image/webp', blob: await blobOf(damaged) })
    assert.equal(await xclipPaste(display, 'image/png'), undefined)
    assert.deepEqual(await xclipPaste(display, 'image/webp'), damaged)
  })

  it('serves several programs at once', async (t) => {
    const { display } = await sharedXvfb()
    const { clipboard } = await openX11(t, display)
    const bytes = randomBytes(2 * MIB)
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: await blobOf(bytes) })
    const pasting = Array.from({ length: 4 }, () => xclipPaste(display, 'image/png'))
    for (const pasted of await Promise.all(pasting)) assert.ok(pasted?.equals(bytes))
  })

  it('lists what it offers', async (t) => {
    const { other, clipboard } = await openBoth(t)
    const blob = await blobOf(randomBytes(9))
    await clipboard.offer({ kind: 'image', mediaType: 'image/gif', blob })
    const listed = await other.paste('TARGETS')
    const names = ['TARGETS', 'TIMESTAMP', 'MULTIPLE', 'image/gif']
    assert.deepEqual(atomsIn(listed), await Promise.all(names.map((name) => other.atom(name))))
  })

  it('names types for as long as they are few: the server keeps each for ever', async (t) => {
    const { other, clipboard } = await openBoth(t)
    const blob = await blobOf(randomBytes(9))
    for (let number = 1; number < 70; number += 1) {
      await clipboard.offer({ kind: 'image', mediaType: `image/x-${number}`, blob })
    }
    assert.equal(atomsIn(await other.paste('TARGETS')).length, 3)
    for (const mediaType of ['image/x-1', 'image/png']) {
      await clipboard.offer({ kind: 'image', mediaType, blob })
      assert.equal((await other.paste(mediaType))?.length, 9)
    }
    await clipboard.offer({ kind: 'text', text: 'hello' })
    assert.equal(String(await other.paste('UTF8_STRING')), 'hello')
  })

  it('gives an image as a file too, which is saved when it is pasted', async (t) => {
    const { other, clipboard } = await openBoth(t)
    const folder = new ReceivedFolder(await temporaryFolder(t))
    const [bytes, mediaType] = [randomBytes(9), 'image/gif']
    const blob = await blobOf(bytes)
    const item = { ...(await fileItem('a b.gif', blob)), type: 'Image', mediaType } as const
    await clipboard.offer(await folder.offerOf({ item, blob }))
    const files = ['text/uri-list', 'x-special/gnome-copied-files']
    const listed = atomsIn(await other.paste('TARGETS')).slice(3)
    assert.deepEqual(
      listed,
      await Promise.all([mediaType, ...files].map((name) => other.atom(name))),
    )
    assert.deepEqual(await readdir(folder.path), [])
    const uri = `file://${folder.path}/a%20b.gif`
    assert.equal(String(await other.paste('text/uri-list')), `${uri}\r\n`)
    assert.equal(String(await other.paste('x-special/gnome-copied-files')), `copy\n${uri}`)
    assert.deepEqual(await readdir(folder.path), ['a b.gif'])
    assert.deepEqual(await readFile(join(folder.path, 'a b.gif')), bytes)
  })

  it('tells since when it has the clipboard, and refuses requests from before', async (t) => {
    const { other, clipboard } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'a' })
    const [time = 0] = atomsIn(await other.paste('TIMESTAMP'))
    const change = await other.nextOwner()
    assert.ok(time > 0 && time <= change.time)
    assert.equal(String(await other.paste('UTF8_STRING', time)), 'a')
    assert.equal(await other.paste('UTF8_STRING', time - 1), undefined)
  })

  it('refuses what it does not offer, SAVE_TARGETS and DELETE included', async (t) => {
    const { other, clipboard } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'a' })
    for (const target of ['SAVE_TARGETS', 'DELETE', 'image/png']) {
      assert.equal(await other.paste(target), undefined, target)
    }
  })

  it('answers programs from before ICCCM, which name no property', async (t) => {
    const { other, clipboard } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'old' })
    const target = await other.atom('STRING')
    other.connection.convertClipboard(target, 0, 0)
    assert.equal((await other.next('converted')).property, target)
    assert.equal(String((await other.read(target)).data), 'old')
  })

  it('converts to several targets at once', async (t) => {
    const { other, clipboard } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'all' })
    const names = ['UTF8_STRING', 'image/png', 'STRING', 'A', 'B', 'C', 'PAIRS']
    const atoms = await Promise.all(names.map((name) => other.atom(name)))
    const [utf8 = 0, png = 0, string = 0, a = 0, b = 0, c = 0, pairs = 0] = atoms
    const asked = [utf8, a, png, b, string, c, utf8, 0]
    await writePairs(other, pairs, asked)
    assert.equal(await other.convert('MULTIPLE', 'PAIRS'), pairs)
    assert.deepEqual(atomsIn((await other.read(pairs)).data), [utf8, a, png, 0, string, c, utf8, 0])
    assert.equal(String((await other.read(a)).data), 'all')
    assert.equal(String((await other.read(c)).data), 'all')
  })

  it('refuses a list of targets that is none', async (t) => {
    const { other, clipboard } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'all' })
    const pairs = await other.atom('PAIRS')
    for (const asked of [[], [1], Array.from({ length: 1000 }, () => 1)]) {
      await writePairs(other, pairs, asked)
      assert.equal(await other.convert('MULTIPLE', 'PAIRS'), undefined)
    }
  })

  it('knows whose the clipboard is when both copy at the same moment', async (t) => {
    const { other, clipboard } = await openBoth(t)
    for (let n = 0; n < 100; n += 1) {
      const offering = clipboard.offer({ kind: 'text', text: `text ${n}` })
      const [offered] = await Promise.allSettled([offering, other.own()])
      const owner = await other.connection.clipboardOwner()
      if (owner === other.window) continue
      assert.equal(offered.status, 'fulfilled')
      assert.equal(String(await other.paste('UTF8_STRING')), `text ${n}`)
    }
  })
})

describe('X11Clipboard, when a program stops pasting', NEEDS, () => {
  it('survives a program that dies between two increments, and closes the image', async (t) => {
    const { other, image, display } = await openWithImage(t)
    const dying = await XClient.open(t, display)
    await takeIncrements(dying, 2)
    await dying.connection.close()
    await image.closed
    assert.ok((await takeIncrements(other)).equals(image.bytes))
  })

  it('survives a program that is gone before the first byte', async (t) => {
    const { other, clipboard, display } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'x'.repeat(MIB) })
    for (const target of ['TARGETS', 'TIMESTAMP', 'UTF8_STRING', 'TEXT', 'MULTIPLE']) {
      const dying = await XClient.open(t, display)
      dying.connection.convertClipboard(await dying.atom(target), dying.clipboard, 0)
      await dying.connection.close()
    }
    assert.equal((await takeIncrements(other, Infinity, 'UTF8_STRING')).length, MIB)
  })

  it('survives a program that dies while its image is being opened', async (t) => {
    const { other, clipboard, display } = await openBoth(t)
    const dying = await XClient.open(t, display)
    await other.connection.selectInput(dying.window, STRUCTURE_NOTIFY)
    const image = watched(randomBytes(MIB))
    const open: Blob['open'] = async () => {
      await dying.connection.close()
      await other.next('destroyed')
      return image.blob.open()
    }
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: { ...image.blob, open } })
    const target = await dying.atom('image/png')
    dying.connection.convertClipboard(target, target, 0)
    await image.closed
  })

  it('gives a program up that stops, after ten seconds', async (t) => {
    const { other, image, clock } = await openWithImage(t)
    await takeIncrements(other, 1)
    // The next block is written: nobody but the other program is waited for.
    while ((await other.next('property')).isDeleted);
    await clock.hasOnly(10_000)
    clock.advance(9_999)
    await other.settle()
    assert.equal(image.isClosed(), false)
    clock.advance(1)
    await image.closed
  })

  it('goes on with a paste that began before it lost the clipboard', async (t) => {
    const { other, image, display } = await openWithImage(t)
    const property = (await other.convert('image/png', 'PASTE')) ?? 0
    const newer = await XClient.open(t, display)
    await newer.own()
    assert.ok((await takeRest(other, property)).equals(image.bytes))
  })

  it('begins again for a program that asks for the same once more', async (t) => {
    const { other, image } = await openWithImage(t)
    await takeIncrements(other, 1)
    // The second block lies there, and is not taken.
    while ((await other.next('property')).isDeleted);
    const property = (await other.convert('image/png', 'PASTE')) ?? 0
    await image.closed
    assert.ok((await takeRest(other, property)).equals(image.bytes))
  })

  it('refuses a paste when the image is gone, whatever its size', async (t) => {
    const { other, clipboard, logger } = await openBoth(t)
    for (const size of [KIB, MIB]) {
      const blob: Blob = { size, open: () => Promise.reject(new Error('gone')) }
      await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
      assert.equal(await other.paste('image/png'), undefined)
    }
    assert.match(logger.text, /gone/)
  })

  it('never passes half an image off as a whole one', async (t) => {
    const { other, image } = await openWithImage(t, watched(randomBytes(MIB), 300 * KIB))
    await takeIncrements(other, 1)
    await image.closed
    await other.settle()
    // Neither the rest nor the empty block that would end it was written.
    while (other.waiting('property') > 0) assert.ok((await other.next('property')).isDeleted)
  })

  it('refuses a small image of which half is gone', async (t) => {
    const { other, image } = await openWithImage(t, watched(randomBytes(KIB), 100))
    assert.equal(await other.paste('image/png'), undefined)
    await image.closed
  })

  it('refuses more pastes at once than anybody needs, however fast they are asked for', async (t) => {
    const { other, clipboard } = await openBoth(t)
    await clipboard.offer({ kind: 'text', text: 'x'.repeat(MIB) })
    const target = await other.atom('UTF8_STRING')
    const names = Array.from({ length: 100 }, (_, n) => other.atom(`P${n}`))
    for (const into of await Promise.all(names)) other.connection.convertClipboard(target, into, 0)
    let accepted = 0
    for (const _ of names) accepted += (await other.next('converted')).property === 0 ? 0 : 1
    assert.equal(accepted, 64)
  })

  it('has a long text in memory once, however many paste it at once', async (t) => {
    const { other, clipboard } = await openBoth(t)
    const size = 4 * MIB
    await clipboard.offer({ kind: 'text', text: 'x'.repeat(size) })
    const target = await other.atom('UTF8_STRING')
    const names = Array.from({ length: 60 }, (_, n) => other.atom(`P${n}`))
    const before = process.memoryUsage().arrayBuffers
    for (const into of await Promise.all(names)) other.connection.convertClipboard(target, into, 0)
    for (const _ of names) assert.notEqual((await other.next('converted')).property, 0)
    const grown = process.memoryUsage().arrayBuffers - before
    assert.ok(grown < 10 * size, `${grown} bytes`)
  })

  it('closes an image as often as it opens it, also for requests at the same moment', async (t) => {
    const { other, clipboard } = await openBoth(t)
    const { blob } = watched(randomBytes(MIB))
    const opened: string[] = []
    const open = new Set<string>()
    const counted: Blob['open'] = async () => {
      const name = `opening ${opened.length}`
      opened.push(name)
      open.add(name)
      const { read } = await blob.open()
      return { read, close: async () => void open.delete(name) }
    }
    const image = { ...blob, open: counted }
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: image })
    const [target, into] = [await other.atom('image/png'), await other.atom('PASTE')]
    for (let n = 0; n < 3; n += 1) other.connection.convertClipboard(target, into, 0)
    for (let n = 0; n < 3; n += 1) await other.next('converted')
    await clipboard.close()
    assert.deepEqual([opened.length, open.size], [3, 0])
  })

  it('closes images that are being pasted when it is closed', async (t) => {
    const { other, clipboard, image } = await openWithImage(t)
    await takeIncrements(other, 1)
    await clipboard.close()
    await image.closed
  })
})

/** A clipboard that offers an image, and another program on the same display. */
async function openWithImage(t: TestContext, image = watched(randomBytes(MIB))) {
  const opened = await openBoth(t)
  await opened.clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: image.blob })
  return { ...opened, image }
}

/** Pastes in increments; leaves off after `count` of them. */
async function takeIncrements(
  client: XClient,
  count = Infinity,
  target = 'image/png',
): Promise<Buffer> {
  const property = await client.convert(target, 'PASTE')
  assert.ok(property !== undefined)
  return takeRest(client, property, count)
}

async function takeRest(client: XClient, property: number, count = Infinity): Promise<Buffer> {
  const { type } = await client.read(property, true)
  assert.equal(type, await client.atom('INCR'))
  const taken: Buffer[] = []
  // Deleting the announcement is what starts it; what happened before is of no interest.
  while (!(await client.next('property')).isDeleted);
  for (;;) {
    const event = await client.next('property')
    if (event.isDeleted || event.property !== property) continue
    const { data } = await client.read(property, true)
    taken.push(data)
    if (data.length === 0 || taken.length === count) return Buffer.concat(taken)
  }
}

async function writePairs(
  { connection, window }: XClient,
  property: number,
  data: readonly number[],
): Promise<void> {
  const type = await connection.internAtom('ATOM_PAIR')
  await connection.changeProperty({ window, property, type, data })
}

function atomsIn(list: Buffer | undefined): number[] {
  return Array.from({ length: (list?.length ?? 0) / 4 }, (_, n) => list?.readUInt32LE(4 * n) ?? 0)
}
