import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../../src/core/limits.ts'
import { needs } from '../../support/requirements.ts'
import { Xvfb } from '../../support/xvfb.ts'
import {
  IS_OVER,
  pauseThatEnded,
  restart,
  untilHeldBack,
  type OpenOptions,
} from '../support/open-reconciler.ts'
import { openX11 } from './support/open-x11.ts'
import { watched } from './support/watched-blob.ts'
import { XClient } from './support/x-client.ts'
import { xclipPaste } from './support/xclip.ts'

const AWAY = 'The X server is away'

const NEEDS = { ...needs('Xvfb', 'xclip'), timeout: 60_000 }

describe('X11Clipboard, when the X server dies', NEEDS, () => {
  it('says so, tries less and less often, comes back, and reports copies again', async (t) => {
    const { server, copies, troubles, clock } = await openOnOwnServer(t)
    await server.crash()
    assert.equal(await troubles.next(), AWAY)
    for (let delay = 300; delay < 30_000; delay *= 2) await clock.pass(delay)
    await clock.pass(30_000)
    await clock.hasOnly(30_000)
    await server.restart()
    await clock.pass(30_000)
    assert.deepEqual(await troubles.next(), IS_OVER)
    const other = await XClient.open(t, server.display)
    await other.copy({ UTF8_STRING: 'after' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'after' })
  })

  it('offers again what it offered', async (t) => {
    const opened = await openOnOwnServer(t)
    const { server, clipboard } = opened
    await clipboard.offer({ kind: 'text', text: 'still there' })
    await restart(server, opened, AWAY)
    const other = await XClient.open(t, server.display)
    await untilOwned(other)
    assert.equal(String(await xclipPaste(server.display, 'UTF8_STRING')), 'still there')
  })

  it('prefers what was copied while it was away', async (t) => {
    const { server, clipboard, clock, copies } = await openOnOwnServer(t)
    await clipboard.offer({ kind: 'text', text: 'ours' })
    await server.crash()
    await server.restart()
    const other = await XClient.open(t, server.display)
    await other.copy({ UTF8_STRING: 'theirs' })
    await clock.pass(300)
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'theirs' })
    assert.equal(String(await xclipPaste(server.display, 'UTF8_STRING')), 'theirs')
  })

  it('shares nothing that it finds there while what was copied in a pause is held back', async (t) => {
    const opened = await openOnOwnServer(t, { pause: pauseThatEnded() })
    const { server, clock, copies } = opened
    await server.crash()
    await server.restart()
    const other = await XClient.open(t, server.display)
    await other.copy({ UTF8_STRING: 'private' })
    await clock.pass(300)
    await untilHeldBack(opened)
    await other.copy({ UTF8_STRING: 'after' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'after' })
  })

  it('rejects an offer that is under way', async (t) => {
    const { server, clipboard } = await openOnOwnServer(t)
    server.freeze()
    const offering = clipboard.offer({ kind: 'text', text: 'x' })
    const rejected = assert.rejects(offering, /closed/)
    await server.crash()
    await rejected
  })

  it('forgets a paste and a copy that are under way', async (t) => {
    const opened = await openOnOwnServer(t)
    const { server, clipboard, copies } = opened
    const other = await XClient.open(t, server.display)
    const image = watched(randomBytes(MIB))
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: image.blob })
    await other.convert('image/png', 'PASTE')
    await other.own()
    await other.nextRequest('TARGETS')
    await restart(server, opened, AWAY)
    await image.closed
    assert.equal(copies.size, 0)
  })

  it('gives a server up that does not answer for two seconds', async (t) => {
    const { server, clipboard, clock, troubles } = await openOnOwnServer(t)
    server.freeze()
    const rejected = assert.rejects(clipboard.offer({ kind: 'text', text: 'x' }), /does not answer/)
    await clock.pass(2000)
    await rejected
    assert.equal(await troubles.next(), AWAY)
    server.thaw()
    await clock.pass(300)
    assert.deepEqual(await troubles.next(), IS_OVER)
  })

  it('can be closed meanwhile, and is silent then', async (t) => {
    const { server, clipboard, clock, troubles, logger } = await openOnOwnServer(t)
    await server.crash()
    await troubles.next()
    await clipboard.close()
    await server.restart()
    clock.advance(60_000)
    const other = await XClient.open(t, server.display)
    await other.own()
    await other.settle()
    assert.equal(troubles.size, 0)
    assert.equal(other.waiting('requested'), 0)
    assert.doesNotMatch(logger.text, /back/)
  })

  it('can be closed while it comes back', async (t) => {
    const { server, clipboard, clock, troubles } = await openOnOwnServer(t)
    await server.crash()
    await troubles.next()
    await server.restart()
    server.freeze()
    await clock.pass(300)
    await clock.hasOnly(2000)
    const closing = clipboard.close()
    server.thaw()
    await closing
    assert.equal(clock.pending, 0)
    const other = await XClient.open(t, server.display)
    await other.own()
    await other.settle()
    assert.equal(other.waiting('requested'), 0)
    assert.equal(troubles.size, 0)
  })

  it('can be closed when the server hangs', async (t) => {
    const { server, clipboard, clock } = await openOnOwnServer(t)
    await clipboard.offer({ kind: 'text', text: 'x' })
    server.freeze()
    const closing = clipboard.close()
    await clock.pass(2000)
    await closing
  })
})

async function openOnOwnServer(t: TestContext, options: OpenOptions = {}) {
  const server = await Xvfb.start(t)
  return { ...(await openX11(t, server.display, options)), server }
}

async function untilOwned(other: XClient): Promise<void> {
  const owner = await other.connection.clipboardOwner()
  if (owner === 0) await other.next('ownerChanged')
}
