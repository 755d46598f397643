import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import {
  copiedFile,
  copiedGroup,
  copiedText,
  DesktopClient,
  type Copied,
} from './support/desktop-client.ts'

const ARGS = ['--clipboard', 'none']

const sample = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/clients/samples/${name}`, import.meta.url))

const ITEMS: readonly Copied[] = [
  copiedText('a short text, 你好'),
  copiedText('😀 and more; '.repeat(2000)),
  copiedFile('Image', 'Image_2026-01-31_12-34-56.png', sample('dots.png')),
  copiedFile('File', 'Bericht für März 报告.pdf', sample('report.pdf')),
  copiedGroup('File_2026-01-31.zip', sample('two-files.zip'), {
    'alpha.txt': 'alpha\n',
    'notes/': '',
    'notes/beta.txt': 'beta\n',
  }),
]

describe('the desktop program of the reference project, in its default account', () => {
  it('takes what another one pushes, of each kind, and again', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ARGS, devices: ['one', 'other'] })
    const { gateway } = daemon.ready
    const one = await DesktopClient.start(t, await daemon.pair('one'), gateway)
    const other = await DesktopClient.start(t, await daemon.pair('other'), gateway)
    const [text, ...files] = ITEMS
    assert.ok(text)
    const turns = [...ITEMS, text].map((copied) => [one, copied] as const)
    // The other one finds the last item there already, and sends no bytes of it.
    for (const [pusher, copied] of [...turns, ...files.flatMap(again)]) {
      await pusher.push(copied)
      for (const client of [one, other]) {
        const { type, hash, bytes, text } = await client.taken.next()
        assert.deepEqual([type, hash], [copied.type, copied.hash])
        assert.deepEqual(bytes ?? Buffer.from(text), copied.bytes)
      }
    }
    await one.test()

    function again(copied: Copied): readonly (readonly [DesktopClient, Copied])[] {
      return [
        [one, copied],
        [other, copied],
      ]
    }
  })

  it('posts its history when it is started again, and nobody sees any of it', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ARGS, devices: ['one', 'other'] })
    const { gateway } = daemon.ready
    const one = await DesktopClient.start(t, await daemon.pair('one'), gateway)
    const other = await DesktopClient.start(t, await daemon.pair('other'), gateway)
    // More files than may be staged, two of one name, and a clock that is ahead.
    const files = Array.from({ length: 20 }, (_, index) =>
      copiedFile('File', `${index % 19}.txt`, Buffer.from(`file ${index}`)),
    )
    const history = [...ITEMS, ...files]
    const newest = copiedText('copied last')
    for (const copied of [...ITEMS, newest]) {
      await one.push(copied)
      await other.taken.next()
    }
    const now = Date.now()
    for (const since of [7_200_000, 30_000, 0, -60_000]) {
      await one.syncHistory(history.map((copied) => [copied, now - since]))
      assert.equal((await other.document())['text'], newest.text)
    }
    for (const copied of history) {
      await one.push(copied)
      const { hash, bytes, text } = await other.taken.next()
      assert.deepEqual([hash, bytes ?? Buffer.from(text)], [copied.hash, copied.bytes])
    }
  })

  it('exchanges with a phone that knows no hub', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ARGS, devices: ['desktop', 'phone'] })
    const { gateway } = daemon.ready
    const desktop = await DesktopClient.start(t, await daemon.pair('desktop'), gateway)
    const phone = await daemon.phone('phone')
    await phone.pushFile('Image', 'photo.png', sample('dots.png'))
    assert.deepEqual((await desktop.taken.next()).bytes, sample('dots.png'))
    await desktop.push(copiedFile('File', 'report.pdf', sample('report.pdf')))
    assert.deepEqual(await phone.download(), sample('report.pdf'))
  })

  it('connects again to a daemon that was started again', async (t) => {
    const first = await startDaemonProcess(t, { args: ARGS, devices: ['desktop', 'phone'] })
    const desktop = await DesktopClient.start(t, await first.pair('desktop'), first.ready.gateway)
    const device = await first.pair('phone')
    await first.stop()
    const args = [...ARGS, '--listen', new URL(first.ready.gateway).host]
    const second = await startDaemonProcess(t, { args, folder: first.folder })
    await desktop.reconnected.next()
    await createPhone(device, second.ready.gateway).pushText('after the restart')
    assert.equal((await desktop.taken.next()).text, 'after the restart')
    await desktop.test()
  })

  for (const how of ['rotate', 'revoke']) {
    it(`is let go by ${how}, and not let in again`, async (t) => {
      const daemon = await startDaemonProcess(t, { args: ARGS, devices: ['desktop'] })
      const device = await daemon.pair('desktop')
      const desktop = await DesktopClient.start(t, device, daemon.ready.gateway)
      await daemon.run(how, device.id)
      await assert.rejects(desktop.test(), /is 401/)
      await assert.rejects(DesktopClient.start(t, device, daemon.ready.gateway), /is 401/)
    })
  }
})
