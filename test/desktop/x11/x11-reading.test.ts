import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { pathToFileURL } from 'node:url'
import { KIB, MIB } from '../../../src/core/limits.ts'
import { PROPERTY_CHANGE, type SelectionRequest } from '../../../src/desktop/x11/x-connection.ts'
import { needs } from '../../support/requirements.ts'
import { openBoth, openX11, sharedXvfb } from './support/open-x11.ts'
import { XClient } from './support/x-client.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const IS_OVER = { isOver: true } as const

const HINT = 'x-kde-passwordManagerHint'

const NEEDS = { ...needs('Xvfb', 'xclip'), timeout: 60_000 }

describe('X11Clipboard, when another program copies', NEEDS, () => {
  it('takes files before text and pictures, and only those that exist', async (t) => {
    const { other, copies } = await openBoth(t)
    const folder = await temporaryFolder(t)
    const path = join(folder, 'ü.png')
    await writeFile(path, '')
    const missing = pathToFileURL(join(folder, 'missing'))
    await other.copy({
      'image/png': 'P',
      UTF8_STRING: path,
      'x-special/gnome-copied-files': `copy\n${missing}\n${pathToFileURL(path)}`,
    })
    assert.deepEqual(await copies.next(), { kind: 'files', paths: [path] })
  })

  it('does not share what a password manager marks as secret', async (t) => {
    const { other, copies } = await openBoth(t)
    const targets = ['UTF8_STRING', HINT]
    await other.own()
    await other.answer(await other.nextRequest('TARGETS'), 'ATOM', targets)
    await other.answer(await other.nextRequest(HINT), HINT, 'secret')
    // The password is never asked for: the next request is for the next copy.
    await other.own()
    await other.answer(await other.nextRequest('TARGETS'), 'ATOM', targets)
    await other.answer(await other.nextRequest(HINT), HINT, 'public')
    await other.answer(await other.nextRequest('UTF8_STRING'), 'UTF8_STRING', 'shown')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'shown' })
  })

  it('reads programs that have no list of formats', async (t) => {
    const { other, copies } = await openBoth(t)
    await other.own()
    await other.refuse(await other.nextRequest('TARGETS'))
    await other.refuse(await other.nextRequest('UTF8_STRING'))
    const latin1 = Buffer.from('gr\xfc\xdfe', 'latin1')
    await other.answer(await other.nextRequest('STRING'), 'STRING', latin1)
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'grüße' })
  })

  it('does not take a cleared clipboard for a copy', async (t) => {
    const { other, copies } = await openBoth(t)
    await other.copy({ UTF8_STRING: 'one' })
    await copies.next()
    other.connection.setSelectionOwner(0, other.clipboard, 0)
    await other.copy({ UTF8_STRING: 'two' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'two' })
    assert.equal(copies.size, 0)
  })

  it('ignores the selection of marked words', async (t) => {
    const { other, copies } = await openBoth(t)
    other.connection.setSelectionOwner(other.window, await other.atom('PRIMARY'), 0)
    await other.copy({ UTF8_STRING: 'copied' })
    await copies.next()
    assert.equal(copies.size, 0)
  })

  it('asks with the time of the copy and not with "now"', async (t) => {
    const { other } = await openBoth(t)
    const change = await other.own()
    const request = await other.nextRequest('TARGETS')
    assert.equal(request.time, change.time)
    assert.notEqual(request.time, 0)
  })
})

describe('X11Clipboard, at its start', NEEDS, () => {
  it('leaves it alone otherwise', async (t) => {
    const { display } = await sharedXvfb()
    const other = await XClient.open(t, display)
    await other.copy({ UTF8_STRING: 'earlier' })
    const { copies } = await openX11(t, display, { readAtStart: false })
    await other.copy({ UTF8_STRING: 'later' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'later' })
    assert.equal(copies.size, 0)
  })
})

describe('X11Clipboard, when another program misbehaves', NEEDS, () => {
  it('gives a program up that does not answer, says so, and goes on', async (t) => {
    const { other, copies, troubles, clock } = await openBoth(t)
    await other.own()
    await other.nextRequest('TARGETS')
    await other.settle()
    clock.advance(2000)
    assert.match(String(await troubles.next()), /does not answer/)
    assert.equal(other.waiting('requested'), 0)
    await other.copy({ UTF8_STRING: 'alive' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'alive' })
    assert.deepEqual(await troubles.next(), IS_OVER)
  })

  it('gives a program up that dies between two increments', async (t) => {
    const { other, troubles, clock, copies } = await openBoth(t)
    const request = await beginIncrements(other, 300 * KIB)
    await writeIncrement(other, request, 'first')
    const next = await XClient.open(t, (await sharedXvfb()).display)
    await other.connection.close()
    // The server says that the owner is gone: nobody is waited for any more.
    while ((await next.next('ownerChanged')).owner !== 0);
    await next.settle()
    clock.advance(2000)
    await next.copy({ UTF8_STRING: 'next' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'next' })
    assert.equal(troubles.size, 0)
  })

  it('gives a program up that stops between two increments', async (t) => {
    const { other, troubles, clock, copies } = await openBoth(t)
    const request = await beginIncrements(other, 300 * KIB)
    await writeIncrement(other, request, 'first')
    await other.settle()
    clock.advance(2000)
    assert.match(String(await troubles.next()), /does not answer/)
    assert.equal(copies.size, 0)
  })

  it('keeps the bytes of a copy that comes byte by byte, and not a buffer for each', async (t) => {
    const { other, copies } = await openBoth(t)
    const request = await beginIncrements(other, 1)
    const write = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) await writeIncrement(other, request, 'x')
    }
    await write(200)
    const before = await heldBuffers()
    await write(500)
    const held = (await heldBuffers()) - before
    assert.ok(held < 100, `${held} buffers for 500 bytes`)
    await writeIncrement(other, request, '')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'x'.repeat(700) })
  })

  it('gives a program up that hands out a byte now and then, and lets it finish', async (t) => {
    const { other, copies, troubles, clock } = await openBoth(t)
    const request = await beginIncrements(other, 1)
    for (let seconds = 0; seconds < 40; seconds += 1) {
      await writeIncrement(other, request, 'x')
      await other.settle()
      clock.advance(1000)
    }
    await writeIncrement(other, request, '')
    const copied = copies.next()
    assert.match(String(await Promise.race([troubles.next(), copied])), /takes too long/)
    await other.copy({ UTF8_STRING: 'alive' })
    assert.deepEqual(await copied, { kind: 'text', text: 'alive' })
  })

  it('waits longer for a program that hands out much, although slowly', async (t) => {
    const { other, copies, clock } = await openBoth(t)
    const request = await beginIncrements(other, 1)
    const block = 'x'.repeat(128 * KIB)
    for (let seconds = 0; seconds < 40; seconds += 1) {
      await writeIncrement(other, request, block)
      await other.settle()
      clock.advance(1000)
    }
    await writeIncrement(other, request, '')
    const copied = await copies.next()
    assert.ok(copied.kind === 'text' && copied.text.length === 40 * block.length)
  })

  it('forgets a copy that a newer one overtakes', async (t) => {
    const { other, copies, troubles } = await openBoth(t)
    await beginIncrements(other, 300 * KIB)
    const newer = await XClient.open(t, (await sharedXvfb()).display)
    await newer.copy({ UTF8_STRING: 'newer' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'newer' })
    assert.equal(troubles.size, 0)
  })

  it('forgets a copy that an offer of ours overtakes', async (t) => {
    const { other, copies, clipboard } = await openBoth(t)
    const request = await beginIncrements(other, 8)
    await clipboard.offer({ kind: 'text', text: 'pushed' })
    await writeIncrement(other, request, 'obsolete')
    await writeIncrement(other, request, '')
    await other.settle()
    await other.copy({ UTF8_STRING: 'newer' })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'newer' })
  })

  it('refuses what announces that it is too long, and lets its owner finish', async (t) => {
    const { other, copies, troubles } = await openBoth(t, { limits: { maxTextBytes: 2 * MIB } })
    const request = await beginIncrements(other, 3 * MIB)
    assert.match(String(await troubles.next()), /larger than 2 MiB/)
    for (const block of ['a', 'b', '']) await writeIncrement(other, request, block)
    assert.equal(copies.size, 0)
  })

  it('refuses what turns out to be too long, and lets its owner finish', async (t) => {
    const { other, copies, troubles } = await openBoth(t, { limits: { maxTextBytes: 10 } })
    const request = await beginIncrements(other, 1)
    const blocks = ['12345', '67890', '1', '2', '']
    for (const block of blocks) await writeIncrement(other, request, block)
    assert.match(String(await troubles.next()), /larger than/)
    assert.equal(copies.size, 0)
  })

  it('refuses what is too long in one piece', async (t) => {
    const { other, copies, troubles } = await openBoth(t, { limits: { maxImageBytes: 100 * KIB } })
    await other.copy({ 'image/png': Buffer.alloc(200 * KIB) })
    assert.match(String(await troubles.next()), /larger than 100 KiB/)
    assert.equal(copies.size, 0)
  })

  it('is not confused by a program that answers when it was given up', async (t) => {
    const { other, copies, clock, troubles } = await openBoth(t)
    await other.own()
    const late = await other.nextRequest('TARGETS')
    await other.settle()
    clock.advance(2000)
    await troubles.next()
    await other.own()
    const request = await other.nextRequest('TARGETS')
    await other.answer(late, 'ATOM', ['image/png'])
    await other.refuse({ ...late, time: request.time - 1 })
    await other.answer(request, 'ATOM', ['text/plain'])
    await other.answer(await other.nextRequest('text/plain'), 'text/plain', 'right')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'right' })
  })
})

/** Counts the buffers that somebody still holds. */
async function heldBuffers(): Promise<number> {
  // What this turn of the event loop has made stays until it is over.
  await setImmediate()
  return Number(queryObjects(Buffer, { format: 'count' }))
}

/** Copies text of which only the announced size comes, and waits until the rest is asked for. */
async function beginIncrements(other: XClient, size: number): Promise<SelectionRequest> {
  await other.own()
  await other.answer(await other.nextRequest('TARGETS'), 'ATOM', ['UTF8_STRING'])
  const request = await other.nextRequest('UTF8_STRING')
  await other.connection.selectInput(request.requestor, PROPERTY_CHANGE)
  const { requestor: window, property } = request
  const type = await other.atom('INCR')
  await other.connection.changeProperty({ window, property, type, data: [size] })
  await other.connection.sendSelectionNotify(request)
  await other.untilDeleted(request)
  return request
}

/** Writes one increment; resolves when the requestor has taken it. */
async function writeIncrement(
  other: XClient,
  request: SelectionRequest,
  text: string,
): Promise<void> {
  const { requestor: window, property } = request
  const type = await other.atom('UTF8_STRING')
  const data = Buffer.from(text)
  await other.connection.changeProperty({ window, property, type, data })
  await other.untilDeleted(request)
}
