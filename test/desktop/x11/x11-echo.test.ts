import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import { openProtected } from '../../../src/desktop/open-protected.ts'
import { COPY_LIMITS } from '../../../src/desktop/read-copy.ts'
import { X11Clipboard } from '../../../src/desktop/x11/x11-clipboard.ts'
import type { CopiedContent, SystemClipboard } from '../../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { blobOf } from '../../support/memory-blob-store.ts'
import { needs } from '../../support/requirements.ts'
import { sharedXvfb } from './support/open-x11.ts'
import { WatchedClock } from './support/watched-clock.ts'
import { XClient } from './support/x-client.ts'

const NEEDS = { ...needs('Xvfb'), timeout: 60_000 }

interface Protected {
  readonly clipboard: SystemClipboard
  readonly other: XClient
  readonly copies: Mailbox<CopiedContent>
  readonly troubles: Mailbox<string>
  readonly clock: WatchedClock
}

/** A clipboard as the daemon has it, and another program. */
async function openGuarded(t: TestContext): Promise<Protected> {
  const { display } = await sharedXvfb()
  const other = await XClient.open(t, display)
  const copies = new Mailbox<CopiedContent>()
  const troubles = new Mailbox<string>()
  const shared = { clock: new WatchedClock(), logger: new CaptureLogger() }
  const events = {
    isWanted: () => true,
    onCopy: (content: CopiedContent) => copies.put(content),
    onTrouble: (message: string | undefined) => troubles.put(message ?? 'well again'),
  }
  const clipboard = await openProtected(
    (guarded) => X11Clipboard.open({ display, events: guarded, readAtStart: false, ...shared }),
    { events, limits: COPY_LIMITS, ...shared },
  )
  t.after(() => clipboard.close())
  return { clipboard, other, copies, troubles, clock: shared.clock }
}

describe('a protected X11 clipboard', NEEDS, () => {
  it('does not report what a program with a history takes over from it', async (t) => {
    const { other, clipboard, copies } = await openGuarded(t)
    await clipboard.offer({ kind: 'text', text: 'pushed' })
    await other.copyUntilRead('UTF8_STRING', 'pushed')
    await other.copyUntilRead('UTF8_STRING', 'new')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'new' })
    await other.copyUntilRead('UTF8_STRING', 'pushed')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'pushed' })
  })

  it('does not report files that a program with a history takes over from it', async (t) => {
    const { other, clipboard, copies } = await openGuarded(t)
    await clipboard.offer({ kind: 'files', paths: [import.meta.filename] })
    await other.copyUntilRead('text/uri-list', import.meta.url)
    await other.copyUntilRead('text/uri-list', new URL('.', import.meta.url).href)
    const paths = [import.meta.dirname + '/']
    assert.deepEqual(await copies.next(), { kind: 'files', paths })
  })

  it('does not report an image that a program takes over in another format', async (t) => {
    const { other, clipboard, copies } = await openGuarded(t)
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
    const { other, clipboard, copies, troubles, clock } = await openGuarded(t)
    let text = 'x'
    for (let round = 0; troubles.size === 0; round += 1) {
      assert.ok(round < 10, 'the loop goes on')
      await clipboard.offer({ kind: 'text', text })
      await other.copy({ UTF8_STRING: `${text}+` })
      const copied = await copies.next()
      assert.ok(copied.kind === 'text' && copied.text === `${text}+`, 'copies are still shared')
      text = copied.text
    }
    assert.match(await troubles.next(), /nothing is put on it for 30 s/)

    await clipboard.offer({ kind: 'text', text: 'held back' })
    assert.equal(String(await other.paste('UTF8_STRING')), text)
    await clock.pass(30_000)
    assert.equal(await troubles.next(), 'well again')
    let change = await other.next('ownerChanged')
    while (change.owner === other.window) change = await other.next('ownerChanged')
    assert.equal(String(await other.paste('UTF8_STRING')), 'held back')
    assert.equal(troubles.size, 0)
  })
})

function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../../fixtures/images/${name}`, import.meta.url))
}
