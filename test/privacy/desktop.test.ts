import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, it, type TestContext } from 'node:test'
import { XClient } from '../desktop/x11/support/x-client.ts'
import { main } from '../faults/support/subject.ts'
import type { PairedDevice } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import { Enclosure } from './support/enclosure.ts'
import type { Place } from './support/places.ts'
import { secret } from './support/secrets.ts'

const PLACES: readonly Place[] = [
  { path: /^data\/item\.json$/, holds: ['text', 'file name'] },
  { path: /^data\/blobs\/[0-9a-f]{32}$/, holds: ['file content'] },
  { path: /^data\/staging\/[0-9a-f]{32}\.json$/, holds: ['file name'] },
  { path: /^data\/control\.token$/, holds: ['control token'] },
  // The files in it are the user's, and it lets nobody else in.
  { path: /^received\/.+/, holds: ['file content'], isNamedAfter: ['file name'], isOfUser: true },
]

/** How password managers mark what they copy. */
const HINT = 'x-kde-passwordManagerHint'

describe('on a desktop', needs('Xvfb'), () => {
  async function open(t: TestContext) {
    const xvfb = await Xvfb.start(t)
    const enclosure = await Enclosure.open(t, { main, places: PLACES })
    const { daemon, ready } = await enclosure.serve([], { DISPLAY: xvfb.display })
    assert.equal(ready.clipboard, 'x11')
    const { stdout } = await enclosure.run(['pair', '--json'])
    const device: PairedDevice = JSON.parse(stdout)
    enclosure.search.learn('minted password', device.password)
    const phone = createPhone(device, ready.gateway)
    const other = await XClient.open(t, xvfb.display)
    const finish = async (): Promise<void> => {
      await enclosure.stop(daemon)
      await enclosure.assertTight()
    }
    return { enclosure, phone, other, finish }
  }

  it('what is copied and pushed stays where it belongs', async (t) => {
    const { enclosure, phone, other, finish } = await open(t)
    await other.copy({ UTF8_STRING: secret('text') })
    await phone.reads({ text: secret('text') })
    await enclosure.look('after a copy')

    const file = join(enclosure.given, `${secret('file name')}.txt`)
    await writeFile(file, secret('file content'))
    await other.copy({ 'text/uri-list': `${pathToFileURL(file)}\r\n` })
    await phone.reads({ text: `${secret('file name')}.txt` })

    await phone.pushFile('File', `${secret('file name')}.bin`, Buffer.from(secret('file content')))
    // Offered once it lies in the received folder.
    let change = await other.next('ownerChanged')
    while (change.owner === other.window) change = await other.next('ownerChanged')
    assert.match(String(await other.paste('text/uri-list')), /\/received\//)
    await enclosure.look('after a push')
    await phone.pushText(secret('text'))
    await finish()
  })

  it('what a password manager marks as secret is not shared, and gets nowhere', async (t) => {
    const { enclosure, phone, other, finish } = await open(t)
    await other.copy({ UTF8_STRING: 'before' })
    await phone.reads({ text: 'before' })
    const text = secret('copied secret')
    const file = join(enclosure.given, `${text}.txt`)
    await writeFile(file, text)
    const uri = pathToFileURL(file).href
    const marked = [
      { UTF8_STRING: text, 'text/plain': text },
      { 'text/uri-list': uri, 'x-special/gnome-copied-files': `copy\n${uri}`, UTF8_STRING: file },
      {
        'image/png': Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from(text)]),
      },
    ]
    let count = 0
    for (const formats of marked) {
      for (const hint of ['secret', 'secret\0', 'Secret\n']) {
        await other.copy({ ...formats, [HINT]: hint })
        await enclosure.look('after a secret')
        // What is read next proves that the secret was dealt with.
        count += 1
        await other.copy({ UTF8_STRING: `after ${count}`, [HINT]: 'public' })
        await phone.reads({ text: `after ${count}` })
      }
    }
    await finish()
  })
})
