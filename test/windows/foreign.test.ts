import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pasteUntil, xclipCopy, xclipPaste } from '../desktop/x11/support/xclip.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import { COMPILER, ForeignProgram } from './support/foreign.ts'
import { needsWine, WindowsMachine } from './support/wine.ts'

const TEXT = 'UTF8_STRING'

/** Its first bytes are all that is looked at. */
const PNG = Buffer.from('\x89PNG\r\n\x1a\nand the rest', 'latin1')

const skip = needsWine().skip || needs('Xvfb', 'xclip', COMPILER).skip

describe('the foreign program of the tests', { skip, timeout: 240_000 }, () => {
  let server: Xvfb
  let machine: WindowsMachine
  let foreign: ForeignProgram
  before(async () => {
    server = await Xvfb.start()
    machine = await WindowsMachine.start('22', server.display)
    foreign = await ForeignProgram.build(machine)
  })
  after(async () => {
    await server.stop()
    await machine.stop()
  })

  it('copies and pastes text, and X11 has the same', async (t) => {
    await foreign.run('copy-text', 'grüß 👋\nzwei')
    assert.equal((await foreign.show()).text, 'grüß 👋\nzwei')
    await pasteUntil(server.display, TEXT, 'grüß 👋\nzwei')
    await xclipCopy(t, server.display, 'von X 漢字')
    const shown = await foreign.showUntil(({ text }) => text === 'von X 漢字')
    assert.ok(shown.formats.includes('CF_UNICODETEXT'))
  })

  it('copies and pastes PNG as it is', async () => {
    const path = join(machine.drive, 'test', 'a b.png')
    await writeFile(path, PNG)
    await foreign.run('copy-png', machine.toWindows(path))
    const { png, formats } = await foreign.show()
    assert.deepEqual([png, formats], [PNG, ['PNG']])
    await pasteUntil(server.display, 'image/png', PNG)
  })

  it('copies images without a compression, with alpha and without', async () => {
    const cases = [
      ['copy-dibv5', 'CF_DIBV5', '124 3x2 32 bits, compression 3, 80ff0000 to ff00ff00'],
      ['copy-dib', 'CF_DIB', '40 3x2 24 bits, compression 0, 00ff0000 to 0000ff00'],
      ['copy-dib32', 'CF_DIB', '40 3x2 32 bits, compression 0, 80ff0000 to ff00ff00'],
    ] as const
    for (const [act, format, image] of cases) {
      await foreign.run(act, '3', '2', '80ff0000', 'ff00ff00')
      const { formats, dib, dibv5 } = await foreign.show()
      assert.deepEqual([formats[0], format === 'CF_DIB' ? dib : dibv5], [format, image])
      const isBitmap = (bytes?: Buffer) => bytes?.toString('latin1', 0, 2) === 'BM'
      while (!isBitmap(await xclipPaste(server.display, 'image/bmp')));
    }
  })

  it('copies files, whatever their names', async () => {
    const files = ['a b.txt', 'Ä ö ß.txt', '👋 漢字.txt'].map((name) => `C:\\x\\${name}`)
    await foreign.run('copy-files', ...files)
    assert.deepEqual((await foreign.show()).files, files)
  })

  it('marks what others are not to see', async () => {
    const marks = [
      'ExcludeClipboardContentFromMonitorProcessing',
      'Clipboard Viewer Ignore',
      'CanIncludeInClipboardHistory',
      'CanUploadToCloudClipboard',
    ]
    for (const mark of marks) {
      await foreign.run('copy-concealed', mark, 'secret')
      const { text, formats } = await foreign.show()
      assert.equal(text, 'secret')
      assert.ok(formats.includes(mark), formats.join())
    }
  })

  it('keeps others from it while it has it open', async (t) => {
    const holder = await foreign.start(t, /^held/, 'hold', '3600000')
    const copying = await foreign.start(t, /^busy/, 'copy-text', 'at last')
    holder.child.kill('SIGKILL')
    assert.equal(await copying.ended(), 0)
    assert.equal((await foreign.show()).text, 'at last')
  })

  it('makes a text only when it is asked for, or does not', async (t) => {
    const late = await foreign.start(t, /^copied/, 'late-render', 'late')
    assert.equal((await foreign.show()).text, 'late')
    assert.match(await late.stdout(), /^asked 13$/m)
    const dying = await foreign.start(t, /^copied/, 'late-render-die')
    assert.equal((await foreign.show()).text, undefined)
    assert.equal(await dying.ended(), 3)
  })

  it('announces what others copy, a thousand times if need be', async (t) => {
    const waiting = await foreign.start(t, /^waits/, 'wait')
    const said = await foreign.run('changes', '1000')
    const [, last = ''] = /^copied (\d+)/.exec(said) ?? []
    await waiting.says(new RegExp(`^changed ${last}$`, 'm'))
    assert.equal((await foreign.show()).text, 'change 1000')
    await pasteUntil(server.display, TEXT, 'change 1000')
  })
})
