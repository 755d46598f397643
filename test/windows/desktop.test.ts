import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { pasteUntil, xclipCopy } from '../desktop/x11/support/xclip.ts'
import { buildProgram } from '../faults/support/built-program.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { unzip } from '../support/unzip.ts'
import { Xvfb } from '../support/xvfb.ts'
import { COMPILER, ForeignProgram } from './support/foreign.ts'
import { readPixels } from './support/png.ts'
import { needsWine, WindowsMachine } from './support/wine.ts'

const IMAGES = new URL('../../fixtures/images/', import.meta.url)
/** All are 37 pixels wide and 29 high. */
const PNG = await readFile(new URL('rgba.png', IMAGES))
const JPEG = await readFile(new URL('rgb.jpg', IMAGES))

/** EXIF that says to turn a photo by 90 degrees, as phones write it. */
const EXIF = Buffer.from(
  '\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0',
  'latin1',
)
const PHOTO = Buffer.concat([JPEG.subarray(0, 2), EXIF, JPEG.subarray(2)])

const MARKS = [
  'ExcludeClipboardContentFromMonitorProcessing',
  'Clipboard Viewer Ignore',
  'CanIncludeInClipboardHistory',
  'CanUploadToCloudClipboard',
]

/** Said of the clipboard whenever it is out of reach. */
const TROUBLE = /has a problem/

const FOR_EVER = String(24 * 3_600_000)

const program = await buildProgram()

const skip = needsWine().skip || needs('Xvfb', 'xclip', 'python3', COMPILER).skip

describe('a desktop (Windows) and a phone', { skip }, () => {
  let server: Xvfb
  let machine: WindowsMachine
  let foreign: ForeignProgram
  let count = 0

  before(async () => {
    server = await Xvfb.start()
    machine = await WindowsMachine.start('22', server.display)
    foreign = await ForeignProgram.build(machine)
  })
  after(async () => {
    await server.stop()
    await machine.stop()
  })

  /** A daemon with the clipboard of the machine, which ends with the test, and a phone. */
  async function setUp(t: TestContext) {
    count += 1
    const [data, received] = [`C:\\data ${count}`, `received ${count}`]
    const run = (...args: readonly string[]) =>
      machine.node(machine.toWindows(program.main), ...args, '--data-dir', data)
    const ports = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']
    const daemon = run('serve', '--json', ...ports, '--received-dir', `C:\\${received}`)
    t.after(async () => {
      daemon.child.kill('SIGKILL')
      await daemon.ended()
    })
    const ready = JSON.parse(await daemon.line())
    const pairing = run('pair', '--json')
    await pairing.ended()
    const phone = createPhone(JSON.parse(await pairing.stdout()), ready.gateway)
    return { daemon, ready, phone, received, folder: join(machine.drive, received), run }
  }

  /** Files on the drive, and where Windows has them. */
  async function writeFiles(files: Readonly<Record<string, string | Uint8Array>>) {
    const name = `copied ${count}`
    await mkdir(join(machine.drive, name))
    for (const [file, bytes] of Object.entries(files)) {
      await writeFile(join(machine.drive, name, file), bytes)
    }
    return Object.keys(files).map((file) => `C:\\${name}\\${file}`)
  }

  it('have one clipboard for text, and X11 has it too', async (t) => {
    const { ready, daemon, phone } = await setUp(t)
    assert.deepEqual([ready.mode, ready.clipboard], ['desktop', 'windows'], await daemon.stderr())
    const text = 'from Windows: äöü 🙂\nzwei'
    await foreign.run('copy-text', text)
    await phone.reads({ type: 'Text', text })
    const answer = 'from the phone: \t€ 漢字\nzwei'
    await phone.pushText(answer)
    const shown = await foreign.showUntil((one) => one.text === answer)
    assert.ok(!shown.formats.includes('CF_HDROP'), shown.formats.join())
    await pasteUntil(server.display, 'UTF8_STRING', answer)
    await xclipCopy(t, server.display, 'from X11')
    await phone.reads({ type: 'Text', text: 'from X11' })
  })

  it('paste images in every format that programs know, and photos upright', async (t) => {
    const { phone } = await setUp(t)
    const rows = [
      ['screen.png', PNG, '37x29'],
      ['drawing.jpg', JPEG, '37x29'],
      ['photo.jpg', PHOTO, '29x37'],
    ] as const
    for (const [name, bytes, size] of rows) {
      await phone.pushFile('Image', name, bytes)
      const { formats, png, dib } = await foreign.showUntil(
        (shown) =>
          shown.dibv5?.startsWith(`124 ${size} 32 bits`) === true &&
          shown.png?.equals(PNG) === (bytes === PNG),
      )
      assert.equal(`${png?.readUInt32BE(16)}x${png?.readUInt32BE(20)}`, size, name)
      assert.match(String(dib), new RegExp(`^40 ${size} `), name)
      assert.ok(!formats.includes('CF_UNICODETEXT'), name)
    }
  })

  it('share PNG as it is, and bitmaps as PNG, with the alpha that they have', async (t) => {
    const { phone } = await setUp(t)
    const [path = ''] = await writeFiles({ 'a b.png': PNG })
    await foreign.run('copy-png', path)
    await phone.reads({ type: 'Image', size: PNG.length })
    assert.ok((await phone.download()).equals(PNG), 'the bytes are the same')

    const rows = [
      ['copy-dibv5', '80ff0000', '4000ff00'],
      ['copy-dib', 'ffff0000', 'ff00ff00'],
      // Screenshots: no pixel has an alpha, and none is meant to be seen through.
      ['copy-dib32', '000000ff', '0000ff00', 'ff0000ff', 'ff00ff00'],
    ] as const
    for (const [act, first, rest, ...opaque] of rows) {
      await foreign.run('copy-text', act)
      await phone.reads({ type: 'Text', text: act })
      await foreign.run(act, '3', '2', first, rest)
      await phone.reads({ type: 'Image' })
      const [one = first, others = rest] = opaque
      const pixels = [one, others, others, others, others, others]
      assert.deepEqual(readPixels(await phone.download()), pixels, act)
    }
  })

  it('have one clipboard for files, whatever their names', async (t) => {
    const { phone, folder, received } = await setUp(t)
    const odd = 'Ä ö ß 👋 漢字.bin'
    const bytes = randomBytes(700_000)
    const paths = await writeFiles({ [odd]: bytes, 'a b.txt': 'a note' })
    await foreign.run('copy-files', paths[0] ?? '')
    await phone.reads({ type: 'File', dataName: odd })
    assert.ok((await phone.download()).equals(bytes), 'the bytes are the same')
    await foreign.run('copy-files', ...paths)
    await phone.reads({ type: 'Group' })
    const archive = await unzip(await phone.download())
    assert.deepEqual(archive, { [odd]: bytes.toString('latin1'), 'a b.txt': 'a note' })

    const pushed = randomBytes(300_000)
    await phone.pushFile('File', odd, pushed)
    const file = `C:\\${received}\\${odd}`
    const shown = await foreign.showUntil(({ files }) => files?.[0] === file)
    assert.deepEqual([shown.files, shown.effect], [[file], 1])
    assert.ok((await readFile(join(folder, odd))).equals(pushed), 'they are the same')
  })

  it('do not share what is marked as secret', async (t) => {
    const { phone, daemon } = await setUp(t)
    const seen = new Set<unknown>()
    for (const mark of MARKS) {
      await foreign.run('copy-concealed', mark, 'secret')
      const { text: copied, formats } = await foreign.show()
      assert.deepEqual([copied, formats.includes(mark)], ['secret', true], mark)
      await foreign.run('copy-text', mark)
      for (let text: unknown; text !== mark; seen.add(text)) text = (await phone.document())['text']
    }
    assert.ok(!seen.has('secret'), 'nobody saw it')
    assert.doesNotMatch(await daemon.stderr(), TROUBLE)
  })

  it('hear no echo of what the phone pushed', async (t) => {
    const { phone } = await setUp(t)
    await phone.pushFile('Image', 'screen.png', PNG)
    await foreign.showUntil(({ png }) => png?.equals(PNG) === true)
    const current = async () => (await phone.fetch('/Sync.json')).headers.get('etag')
    const seen = new Set([await current()])
    await foreign.run('copy-text', 'the end')
    for (let text: unknown; text !== 'the end'; seen.add(await current())) {
      text = (await phone.document())['text']
      seen.add(await current())
    }
    assert.equal(seen.size, 2, 'only the push and the last copy were ever current')
  })

  it('come together when another program has the clipboard open for a while', async (t) => {
    const { phone, daemon } = await setUp(t)
    await foreign.start(t, /^held/, 'hold', '1000')
    await phone.pushText('after a second')
    await foreign.showUntil(({ text }) => text === 'after a second')
    assert.doesNotMatch(await daemon.stderr(), TROUBLE)

    const holder = await foreign.start(t, /^held/, 'hold', FOR_EVER)
    await phone.pushText('when it is free')
    await daemon.complains(/holds the clipboard/)
    holder.child.kill('SIGKILL')
    await foreign.showUntil(({ text }) => text === 'when it is free')
    await daemon.complains(/has recovered/)
  })

  it('go on after a program that offers a text and makes it late, never, or hangs', async (t) => {
    const { phone } = await setUp(t)
    await foreign.start(t, /^copied/, 'late-render', 'made late')
    await phone.reads({ text: 'made late' })
    const dying = await foreign.start(t, /^copied/, 'late-render-die')
    assert.equal(await dying.ended(), 3, 'it was asked')
    await foreign.run('copy-text', 'after one that died')
    await phone.reads({ text: 'after one that died' })

    const hanging = await foreign.start(t, /^copied/, 'late-render-hang')
    await hanging.says(/^asked/m)
    await phone.pushText('pushed meanwhile')
    await phone.reads({ text: 'pushed meanwhile' })
    hanging.child.kill('SIGKILL')
    await foreign.run('copy-text', 'after one that hung')
    await phone.reads({ text: 'after one that hung' })
  })

  it('have the last of a thousand quick copies', async (t) => {
    const { phone } = await setUp(t)
    await foreign.run('changes', '1000')
    await phone.reads({ text: 'change 1000' })
    await phone.pushText('and back')
    await foreign.showUntil(({ text }) => text === 'and back')
  })

  it('share what was copied before the daemon was started, and let go at its end', async (t) => {
    await foreign.run('copy-text', 'early')
    const { phone, daemon, run } = await setUp(t)
    await phone.reads({ text: 'early' })
    await phone.pushText('offered')
    await foreign.showUntil(({ text }) => text === 'offered')
    const stopping = run('stop')
    assert.deepEqual([await stopping.ended(), await daemon.ended()], [0, 0])
    assert.deepEqual((await foreign.show()).formats, [])
  })
})
