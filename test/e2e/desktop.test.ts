import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pasteUntil, xclipCopy, xclipPaste } from '../desktop/x11/support/xclip.ts'
import { countCalls, needsTracing } from '../faults/support/trace.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { sha256 } from '../support/hashes.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { unzip } from '../support/unzip.ts'
import { Xvfb } from '../support/xvfb.ts'

/** A desktop with a daemon on it, and a phone. */
async function setUp(t: TestContext) {
  const xvfb = await Xvfb.start(t)
  const { display } = xvfb
  const daemon = await startDaemonProcess(t, { env: { DISPLAY: display } })
  assert.deepEqual([daemon.ready.mode, daemon.ready.clipboard], ['desktop', 'x11'], daemon.stderr())
  const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
  return { xvfb, display, daemon, phone }
}

describe('a desktop and a phone', needs('Xvfb', 'xclip'), () => {
  it('have one clipboard for text', async (t) => {
    const { display, phone } = await setUp(t)
    const text = 'from the desktop: äöü 🙂\n'
    await xclipCopy(t, display, text, 'UTF8_STRING')
    await phone.reads({ type: 'Text', text })

    const answer = Buffer.from('from the phone: \t€ 漢字')
    await phone.pushText(answer.toString())
    await pasteUntil(display, 'UTF8_STRING', answer)
  })

  it('have one clipboard for images', async (t) => {
    const { display, phone } = await setUp(t)
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(1_500_000)])
    await xclipCopy(t, display, png, 'image/png')
    await phone.reads({ type: 'Image', size: png.length })
    assert.deepEqual(await phone.download(), png)

    const jpeg = Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), randomBytes(800_000)])
    await phone.pushFile('Image', 'photo.jpg', jpeg)
    await pasteUntil(display, 'image/jpeg', jpeg)
  })

  it('have one clipboard for files', async (t) => {
    const { display, phone, daemon } = await setUp(t)
    const bytes = randomBytes(700_000)
    const path = join(daemon.folder, 'notes é.bin')
    await writeFile(path, bytes)
    await xclipCopy(t, display, `${pathToFileURL(path)}\r\n`, 'text/uri-list')
    await phone.reads({ type: 'File', dataName: 'notes é.bin' })
    assert.deepEqual(await phone.download(), bytes)

    const pushed = randomBytes(300_000)
    await phone.pushFile('File', 'from phone.bin', pushed)
    const received = join(daemon.folder, 'received', 'from phone.bin')
    await pasteUntil(display, 'text/uri-list', Buffer.from(`${pathToFileURL(received)}\r\n`))
    const uris = String(await xclipPaste(display, 'text/uri-list'))
    assert.deepEqual(await readFile(fileURLToPath(uris.trim())), pushed)
  })

  it('have one clipboard for several files, and for a folder', needs('python3'), async (t) => {
    const { display, phone, daemon } = await setUp(t)
    const folder = join(daemon.folder, 'Fotos é 🙂')
    const bytes = randomBytes(900_000)
    await mkdir(join(folder, 'leer'), { recursive: true })
    await writeFile(join(folder, 'a b.bin'), bytes)
    await writeFile(join(daemon.folder, 'note.txt'), 'a note')
    const paths = [folder, join(daemon.folder, 'note.txt')]
    await xclipCopy(
      t,
      display,
      paths.map((path) => `${pathToFileURL(path)}\r\n`).join(''),
      'text/uri-list',
    )
    const several = await phone.reads({ type: 'Group' })
    assert.match(String(several['dataName']), /^clipboard-\d{8}-\d{6}\.zip$/)
    const archive = await phone.download()
    assert.equal(several['size'], archive.length)
    assert.equal(several['hash'], sha256(archive))
    assert.deepEqual(await unzip(archive), {
      'Fotos é 🙂/leer/': 'a folder',
      'Fotos é 🙂/a b.bin': bytes.toString('latin1'),
      'note.txt': 'a note',
    })

    await xclipCopy(t, display, `${pathToFileURL(folder)}\r\n`, 'text/uri-list')
    await phone.reads({ type: 'Group', dataName: 'Fotos é 🙂.zip' })
    assert.deepEqual(Object.keys(await unzip(await phone.download())), [
      'Fotos é 🙂/leer/',
      'Fotos é 🙂/a b.bin',
    ])
    await writeFile(join(folder, 'a b.bin'), 'changed')
    const url = `/file/${encodeURIComponent('Fotos é 🙂.zip')}`
    assert.equal((await phone.fetch(url)).status, 404)
  })

  it('start no process for a copy or a push', needsTracing, async (t) => {
    const { display, phone, daemon } = await setUp(t)
    const letGo = await countCalls(t, daemon.ready.pid, 'execve,execveat')
    for (const round of ['one', 'two', 'three']) {
      await xclipCopy(t, display, `copy ${round}`, 'UTF8_STRING')
      await phone.reads({ text: `copy ${round}` })
      await phone.pushText(`push ${round}`)
      await pasteUntil(display, 'UTF8_STRING', Buffer.from(`push ${round}`))
    }
    assert.deepEqual([...(await letGo())], [])
  })

  it('hear no echo of what the phone pushed', async (t) => {
    const { display, phone, daemon } = await setUp(t)
    await phone.pushFile('File', 'a.bin', Buffer.from('once'))
    const uri = pathToFileURL(join(daemon.folder, 'received', 'a.bin')).href
    await pasteUntil(display, 'text/uri-list', Buffer.from(`${uri}\r\n`))
    const pushed = await phone.fetch('/Sync.json')

    // A clipboard manager takes over what we offered: nothing new either.
    await xclipCopy(t, display, `${uri}\r\n`, 'text/uri-list')
    // The next real copy proves that the events before it were handled, and made nothing current.
    const seen = new Set<string | null>()
    await xclipCopy(t, display, 'the end', 'UTF8_STRING')
    for (let text: unknown; text !== 'the end'; ) {
      const response = await phone.fetch('/Sync.json')
      text = Object(await response.json()).text
      seen.add(response.headers.get('etag'))
    }
    assert.ok(seen.size <= 2, 'only the push and the last copy were ever current')
    assert.equal([...seen].at(0) === pushed.headers.get('etag') || seen.size === 1, true)
    assert.deepEqual(await readdir(join(daemon.folder, 'received')), ['a.bin'])
  })

  it('find together again after the display server was restarted', async (t) => {
    const { xvfb, display, phone } = await setUp(t)
    await xvfb.stop()
    await phone.pushText('meanwhile')
    await xvfb.restart()
    await pasteUntil(display, 'UTF8_STRING', Buffer.from('meanwhile'))
    await xclipCopy(t, display, 'and back', 'UTF8_STRING')
    await phone.reads({ text: 'and back' })
  })
})
