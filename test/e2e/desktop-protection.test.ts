import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { startAppendingWriter } from '../desktop/x11/support/appending-writer.ts'
import { XClient } from '../desktop/x11/support/x-client.ts'
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'

/** A desktop with a daemon and another program on it, and a phone. */
async function setUp(t: TestContext, args: readonly string[] = []) {
  const { display } = await Xvfb.start(t)
  const daemon = await startDaemonProcess(t, {
    devices: ['Phone'],
    args,
    env: { DISPLAY: display },
  })
  assert.equal(daemon.ready.clipboard, 'x11', daemon.stderr())
  const phone = await daemon.phone()
  const other = await XClient.open(t, display)
  return { display, daemon, phone, other }
}

async function clipboardError(daemon: DaemonProcess): Promise<unknown> {
  return JSON.parse((await daemon.run('status', '--json')).stdout).clipboardError
}

function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../fixtures/images/${name}`, import.meta.url))
}

describe('a daemon on a desktop', needs('Xvfb'), () => {
  it('hears no echo of a photo that another program converts and takes over', async (t) => {
    const { daemon, phone, other } = await setUp(t, ['--log-level', 'debug'])
    let echoes = 0
    for (const [pushed, mediaType, converted, convertedType] of [
      ['rgb.jpg', 'image/jpeg', 'rgb.png', 'image/png'],
      ['rgba.png', 'image/png', 'rgba-lzw.tif', 'image/tiff'],
    ] as const) {
      await phone.pushFile('Image', pushed, await sample(pushed))
      let change = await other.next('ownerChanged')
      while (change.owner === other.window) change = await other.next('ownerChanged')
      assert.deepEqual(await other.paste(mediaType), await sample(pushed))

      await other.copyUntilRead(convertedType, await sample(converted))
      echoes += 1
      while (daemon.stderr().split('What was written came back').length <= echoes)
        await setImmediate()
      assert.equal((await phone.document())['dataName'], pushed)
    }
    // Once anything else was copied it counts.
    await other.copyUntilRead('UTF8_STRING', 'something else')
    await phone.reads({ text: 'something else' })
    await other.copyUntilRead('image/png', await sample('rgba.png'))
    while ((await phone.document())['type'] !== 'Image');
  })

  it('breaks a loop with a program that rewrites whatever is put on the clipboard', async (t) => {
    const { display, daemon, phone } = await setUp(t)
    await startAppendingWriter(t, display)
    let isOver = false
    // A phone with an app that pushes whatever it hears of.
    const answering = (async () => {
      let last = 'x'
      await phone.pushText(last)
      while (!isOver) {
        const text = String((await phone.document())['text'])
        if (text !== last) await phone.pushText(text)
        last = text
      }
    })()
    let problem: unknown = null
    while (problem === null) problem = await clipboardError(daemon)
    isOver = true
    await answering
    assert.match(String(problem), /nothing is put on it for/)
    assert.match(daemon.stderr(), /reason="Another program changes whatever is put on/)
    // Phones are served nevertheless.
    await phone.pushText('served')
    await phone.reads({ text: 'served' })
  })

  it('says that a copy is too large to be shared, until the next one', async (t) => {
    const { daemon, phone, other } = await setUp(t, ['--max-copied-text-bytes', '20'])
    await other.copyUntilRead('UTF8_STRING', 'short')
    await phone.reads({ text: 'short' })
    await other.copyUntilRead('UTF8_STRING', 'x'.repeat(21))
    const wanted = 'What was copied is larger than 20 bytes: not shared (text, at least 21 bytes)'
    let problem: unknown = null
    while (problem === null) problem = await clipboardError(daemon)
    assert.equal(problem, wanted)
    assert.equal(daemon.stderr().split(wanted).length, 2, 'one line in the log')
    assert.doesNotMatch(daemon.stderr(), /x{21}/)
    assert.equal((await phone.document())['text'], 'short')
    await other.copyUntilRead('UTF8_STRING', 'short again')
    await phone.reads({ text: 'short again' })
    assert.equal(await clipboardError(daemon), null)
  })

  it('shares only the kinds that it is told to', async (t) => {
    const { daemon, phone, other } = await setUp(t, ['--share-types', 'image'])
    await other.copyUntilRead('UTF8_STRING', 'a secret')
    await other.copy({ 'image/png': await sample('rgb.png') })
    while ((await phone.document())['type'] !== 'Image');
    assert.deepEqual(await phone.download(), await sample('rgb.png'))
    assert.match(daemon.stderr(), /of a kind that is not shared kind="text" size=8/)
    assert.doesNotMatch(daemon.stderr(), /a secret/)
    assert.equal(await clipboardError(daemon), null)
  })
})
