import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { bytesInMemory } from '../../../src/desktop/offered-formats.ts'
import { SelectionOwner } from '../../../src/desktop/x11/selection-owner.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { needs } from '../../support/requirements.ts'
import { sharedXvfb } from './support/open-x11.ts'
import { XClient } from './support/x-client.ts'

const TEXT = { kind: 'text', text: 'ours' } as const

/** An owner whose clock belongs to the test, and another program. */
async function open(t: TestContext, serverTime: (other: XClient) => Promise<number>) {
  const { display } = await sharedXvfb()
  const [us, other] = [await XClient.open(t, display), await XClient.open(t, display)]
  const connection = Object.assign(us.connection, { serverTime: () => serverTime(other) })
  const owner = new SelectionOwner({ connection, logger: new CaptureLogger(), clock })
  us.connection.onEvent((event) => owner.handle(event))
  return { us, other, owner }
}

/** The other program copies, and tells when. */
async function copyElsewhere(other: XClient): Promise<number> {
  return (await other.own()).time
}

describe('SelectionOwner', { ...needs('Xvfb'), timeout: 60_000 }, () => {
  it('says so when another program copies before it can take the clipboard', async (t) => {
    const beforeCopying = async (program: XClient): Promise<number> =>
      (await copyElsewhere(program)) - 1
    const { us, other, owner } = await open(t, beforeCopying)
    await assert.rejects(owner.offer(TEXT), /Another program/)
    await owner.release()
    assert.equal(await us.connection.clipboardOwner(), other.window)
  })

  it('keeps the clipboard when it hears late that it had lost it before', async (t) => {
    let time = 0
    const { other, owner } = await open(t, async (program) => {
      time = await copyElsewhere(program)
      return time
    })
    await owner.offer(TEXT)
    owner.handle({ kind: 'cleared', time })
    assert.equal(String(await other.paste('UTF8_STRING')), 'ours')
    owner.handle({ kind: 'cleared', time: time + 1 })
    assert.equal(await other.paste('UTF8_STRING'), undefined)
  })

  it('answers a crowd of requests without converting more than a person asks for', async (t) => {
    const { other, owner } = await open(t, async (program) => program.connection.serverTime())
    await owner.offer(TEXT)
    const [selection, target] = [other.clipboard, await other.atom('UTF8_STRING')]
    const names = Array.from({ length: 200 }, (_, n) => other.atom(`P${n}`))
    for (const property of await Promise.all(names)) {
      owner.handle({
        kind: 'requested',
        requestor: other.window,
        selection,
        target,
        property,
        time: 0,
      })
    }
    let answers = 0
    for (const _ of names) answers += (await other.next('converted')).property === 0 ? 0 : 1
    assert.equal(answers, 64)
    assert.equal(String(await other.paste('UTF8_STRING')), 'ours')
  })

  it('answers what else is pasted while a crowd waits for a file in a folder that hangs', async (t) => {
    const { other, owner } = await open(t, async (program) => program.connection.serverTime())
    const blob = bytesInMemory(Buffer.from('a picture'))
    const file = { path: undefined, save: () => new Promise<string>(() => undefined) }
    await owner.offer({ kind: 'image', mediaType: 'image/png', blob, file })
    const [selection, target] = [other.clipboard, await other.atom('text/uri-list')]
    const request = {
      kind: 'requested',
      requestor: other.window,
      selection,
      target,
      time: 0,
    } as const
    for (let count = 0; count < 100; count++) owner.handle({ ...request, property: target })
    for (let count = 64; count < 100; count++) await other.next('converted')
    assert.equal(String(await other.paste('image/png')), 'a picture')
    await owner.offer(TEXT)
    assert.equal(String(await other.paste('UTF8_STRING')), 'ours')
  })
})
