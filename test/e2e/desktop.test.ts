import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as wayland from '../desktop/wayland/support/wl-clipboard.ts'
import * as x11 from '../desktop/x11/support/xclip.ts'
import { countCalls, needsTracing } from '../faults/support/trace.ts'
import { KWIN_TOOLS, MUTTER_TOOLS, startKwin, startMutter } from '../support/compositors.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { sha256 } from '../support/hashes.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { Sway, SWAY_TOOLS } from '../support/sway.ts'
import { unzip } from '../support/unzip.ts'
import { Xvfb } from '../support/xvfb.ts'

const PLAIN = 'text/plain;charset=utf-8'
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(1_500_000)])
const PHOTO = new URL('../../fixtures/photos/lying.jpg', import.meta.url)
const JPEG = Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), randomBytes(800_000)])

/** A display, and a program on it that copies and pastes. */
interface Display {
  readonly env: NodeJS.ProcessEnv
  copy(bytes: string | Uint8Array, type?: string): Promise<void>
  paste(type: string): Promise<Buffer | undefined>
  pasteUntil(type: string, wanted: string | Uint8Array): Promise<void>
}

/** The server of a display, which can be ended. */
interface Served extends Display {
  readonly server: Xvfb | Sway
}

async function openX11(t: TestContext): Promise<Served> {
  const server = await Xvfb.start(t)
  const { display } = server
  return {
    server,
    env: { DISPLAY: display },
    copy: (bytes, type) => x11.xclipCopy(t, display, bytes, type ?? 'UTF8_STRING'),
    paste: (type) => x11.xclipPaste(display, type),
    pasteUntil: (type, wanted) => x11.pasteUntil(display, type, wanted),
  }
}

async function openWayland(t: TestContext): Promise<Served> {
  const server = await Sway.start(t)
  return { server, ...programsOf(t, server.env) }
}

/** Programs of Wayland. */
function programsOf(t: TestContext, env: Sway['env']): Display {
  return {
    env,
    copy: (bytes, type) => wayland.wlCopy(t, env, bytes, type),
    paste: (type) => wayland.wlPaste(env, type),
    pasteUntil: (type, wanted) => wayland.pasteUntil(env, type, wanted),
  }
}

/** A desktop with a daemon on it, and a phone. */
async function setUp<D extends Display>(t: TestContext, open: (t: TestContext) => Promise<D>) {
  const display = await open(t)
  const daemon = await startDaemonProcess(t, { devices: ['Phone'], env: display.env })
  t.after(() => daemon.stop())
  const device = await daemon.pair('Phone')
  const phone = createPhone(device, daemon.ready.gateway)
  return { ...display, daemon, device, phone }
}

function uriList(...paths: readonly string[]): string {
  return paths.map((path) => `${pathToFileURL(path)}\r\n`).join('')
}

const SERVED = [
  { name: 'Xvfb', way: 'x11', open: openX11, tools: ['Xvfb', 'xclip'] },
  { name: 'sway', way: 'wayland', open: openWayland, tools: SWAY_TOOLS },
] as const

const DESKTOPS: readonly {
  readonly name: string
  readonly way: string
  readonly open: (t: TestContext) => Promise<Display>
  readonly tools: readonly string[]
}[] = [
  ...SERVED,
  {
    name: 'mutter',
    way: 'x11',
    open: async (t) => programsOf(t, await startMutter(t)),
    tools: MUTTER_TOOLS,
  },
  {
    name: 'KWin',
    way: 'wayland',
    open: async (t) => programsOf(t, await startKwin(t)),
    tools: KWIN_TOOLS,
  },
]

for (const { name, way, open, tools } of DESKTOPS) {
  describe(`a desktop (${name}) and a phone`, { ...needs(...tools), timeout: 120_000 }, () => {
    it('have one clipboard for text and images', async (t) => {
      const { copy, pasteUntil, phone, daemon } = await setUp(t, open)
      const { mode, clipboard } = daemon.ready
      assert.deepEqual([mode, clipboard], ['desktop', way], daemon.stderr())
      const text = 'from the desktop: äöü 🙂\n'
      await copy(text)
      await phone.reads({ type: 'Text', text })
      const answer = 'from the phone: \t€ 漢字'
      await phone.pushText(answer)
      for (const type of [PLAIN, 'UTF8_STRING']) await pasteUntil(type, answer)

      await copy(PNG, 'image/png')
      await phone.reads({ type: 'Image', size: PNG.length })
      assert.ok((await phone.download()).equals(PNG), 'the bytes are the same')
      await phone.pushFile('Image', 'photo.jpg', JPEG)
      await pasteUntil('image/jpeg', JPEG)
    })

    it('have one clipboard for files', async (t) => {
      const { copy, paste, pasteUntil, phone, daemon } = await setUp(t, open)
      const bytes = randomBytes(700_000)
      const path = join(daemon.folder, 'notes é.bin')
      await writeFile(path, bytes)
      await copy(uriList(path), 'text/uri-list')
      await phone.reads({ type: 'File', dataName: 'notes é.bin' })
      assert.ok((await phone.download()).equals(bytes), 'the bytes are the same')

      const pushed = randomBytes(300_000)
      await phone.pushFile('File', 'from phone.bin', pushed)
      const received = join(daemon.folder, 'received', 'from phone.bin')
      await pasteUntil('text/uri-list', uriList(received))
      const uris = String(await paste('text/uri-list'))
      assert.ok((await readFile(fileURLToPath(uris.trim()))).equals(pushed), 'they are the same')
    })

    it('paste what the phone pushed also after a restart of the daemon, which shares it once', async (t) => {
      const { env, copy, pasteUntil, phone, daemon } = await setUp(t, open)
      const answer = 'from the phone'
      await phone.pushText(answer)
      await pasteUntil(PLAIN, answer)
      const pushed = (await phone.fetch('/Sync.json')).headers.get('etag')
      await daemon.stop()
      const again = await startDaemonProcess(t, { folder: daemon.folder, env })
      t.after(() => again.stop())
      await pasteUntil(PLAIN, answer)
      const later = await again.phone()
      assert.equal((await later.fetch('/Sync.json')).headers.get('etag'), pushed)
      await copy('and back')
      await later.reads({ text: 'and back' })
    })
  })
}

for (const { name, open, tools } of SERVED) {
  describe(`a desktop (${name}) and a phone`, { ...needs(...tools), timeout: 120_000 }, () => {
    it('hear no echo of what the phone pushed', async (t) => {
      const { copy, pasteUntil, phone, daemon } = await setUp(t, open)
      await phone.pushFile('File', 'a.bin', Buffer.from('once'))
      const uri = uriList(join(daemon.folder, 'received', 'a.bin'))
      await pasteUntil('text/uri-list', uri)
      const pushed = (await phone.fetch('/Sync.json')).headers.get('etag')

      // A clipboard manager takes over what we offered: nothing new either.
      await copy(uri, 'text/uri-list')
      // The next real copy proves that the events before it were handled, and made nothing current.
      const seen = new Set([pushed])
      await copy('the end')
      for (let text: unknown; text !== 'the end'; ) {
        const response = await phone.fetch('/Sync.json')
        text = Object(await response.json()).text
        seen.add(response.headers.get('etag'))
      }
      assert.equal(seen.size, 2, 'only the push and the last copy were ever current')
      assert.deepEqual(await readdir(join(daemon.folder, 'received')), ['a.bin'])
    })

    it('find together again after the display server was restarted', async (t) => {
      const { server, copy, pasteUntil, phone, daemon } = await setUp(t, open)
      await server.crash()
      await phone.pushText('meanwhile')
      await server.restart()
      await pasteUntil('UTF8_STRING', 'meanwhile')
      await copy('and back')
      await phone.reads({ text: 'and back' })
      assert.match(daemon.stderr(), /(compositor|server) is away/)
      assert.match(daemon.stderr(), /has recovered/)
    })

    it('share what was copied before the daemon was started', async (t) => {
      const early = async (context: TestContext): Promise<Display> => {
        const display = await open(context)
        await display.copy('early')
        return display
      }
      const { phone } = await setUp(t, early)
      await phone.reads({ text: 'early' })
    })

    it('keep on the clipboard what was copied while no daemon ran', async (t) => {
      const { env, copy, paste, pasteUntil, phone, daemon } = await setUp(t, open)
      await phone.pushText('from the phone')
      await pasteUntil(PLAIN, 'from the phone')
      await daemon.stop()
      await copy('meanwhile')
      const again = await startDaemonProcess(t, { folder: daemon.folder, env })
      t.after(() => again.stop())
      const later = await again.phone()
      await later.reads({ text: 'meanwhile' })
      assert.equal(String(await paste(PLAIN)), 'meanwhile')
    })
  })
}

describe('an X11 desktop and a phone', needs('Xvfb', 'xclip'), () => {
  it('have one clipboard for several files, and for a folder', needs('python3'), async (t) => {
    const { copy, phone, daemon } = await setUp(t, openX11)
    const folder = join(daemon.folder, 'Fotos é 🙂')
    const bytes = randomBytes(900_000)
    await mkdir(join(folder, 'leer'), { recursive: true })
    await writeFile(join(folder, 'a b.bin'), bytes)
    await writeFile(join(daemon.folder, 'note.txt'), 'a note')
    await copy(uriList(folder, join(daemon.folder, 'note.txt')), 'text/uri-list')
    const several = await phone.reads({ type: 'Group' })
    assert.match(String(several['dataName']), /^clipboard-\d{8}-\d{6}\.zip$/)
    const archive = await phone.download()
    assert.equal(several['size'], archive.length)
    assert.equal(several['hash'], sha256(archive))
    assert.deepEqual(await unzip(archive), {
      'Fotos é 🙂/': 'a folder',
      'Fotos é 🙂/leer/': 'a folder',
      'Fotos é 🙂/a b.bin': bytes.toString('latin1'),
      'note.txt': 'a note',
    })

    await copy(uriList(folder), 'text/uri-list')
    await phone.reads({ type: 'Group', dataName: 'Fotos é 🙂.zip' })
    const names = Object.keys(await unzip(await phone.download()))
    assert.deepEqual(names, ['Fotos é 🙂/', 'Fotos é 🙂/leer/', 'Fotos é 🙂/a b.bin'])
    await writeFile(join(folder, 'a b.bin'), 'changed')
    const url = `/file/${encodeURIComponent('Fotos é 🙂.zip')}`
    assert.equal((await phone.fetch(url)).status, 404)
  })

  it('start no process for a copy or a push', needsTracing, async (t) => {
    const { copy, pasteUntil, phone, daemon } = await setUp(t, openX11)
    const letGo = await countCalls(t, daemon.ready.pid, 'execve,execveat')
    for (const round of ['one', 'two', 'three']) {
      await copy(`copy ${round}`)
      await phone.reads({ text: `copy ${round}` })
      await phone.pushText(`push ${round}`)
      await pasteUntil('UTF8_STRING', `push ${round}`)
    }
    assert.deepEqual([...(await letGo())], [])
  })
})

it(
  'a daemon on Wayland that is killed leaves no program that watches behind',
  needs(...SWAY_TOOLS),
  async (t) => {
    const { daemon } = await setUp(t, openWayland)
    const { pid } = daemon.child
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
    const commandOf = (id: string) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    const commands = await Promise.all(children.map(commandOf))
    const watch = children[commands.findIndex((command) => command.startsWith('wl-paste'))]
    assert.ok(watch !== undefined, commands.join())
    daemon.child.kill('SIGKILL')
    while ((await commandOf(watch)) !== '');
  },
)

/** Waits until it is on the clipboard, and nothing else is ever shared. */
async function offersNewest(
  paste: (type: string) => Promise<Buffer | undefined>,
  phone: ReturnType<typeof createPhone>,
): Promise<void> {
  while (String(await paste('UTF8_STRING')) !== 'newest') {
    assert.equal((await phone.document())['text'], 'newest')
  }
  assert.equal((await phone.document())['text'], 'newest')
}

describe('what a push could not replace yet', needs('Xvfb', 'xclip'), () => {
  it('does not come back when a server that did not answer goes on', async (t) => {
    const { server, copy, paste, phone, daemon } = await setUp(t, openX11)
    await copy('older')
    await phone.reads({ text: 'older' })
    server.freeze()
    await phone.pushText('newest')
    while (!/server is away/.test(daemon.stderr())) await phone.document()
    server.thaw()
    await offersNewest(paste, phone)
    await daemon.stop()
  })

  it('does not come back at the next start where a file cannot be saved', async (t) => {
    const { env, copy, daemon, ...opened } = await setUp(t, openX11)
    const received = join(daemon.folder, 'received')
    await copy('older')
    await opened.phone.reads({ text: 'older' })
    await writeFile(received, 'no folder')
    await opened.phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
    while (daemon.stderr() === '') await opened.phone.document()
    await daemon.stop()
    await rm(received)
    const again = await startDaemonProcess(t, { folder: daemon.folder, env })
    await opened.pasteUntil('text/uri-list', uriList(join(received, 'a.bin')))
    const phone = createPhone(opened.device, again.ready.gateway)
    assert.equal((await phone.document())['dataName'], 'a.bin')
    await again.stop()
  })

  it('does not come back where the push came to a daemon without a desktop', async (t) => {
    const { env, copy, paste, daemon, device, phone } = await setUp(t, openX11)
    await copy('older')
    await phone.reads({ text: 'older' })
    await daemon.stop()
    const { folder } = daemon
    const away = await startDaemonProcess(t, { folder, args: ['--headless'] })
    await createPhone(device, away.ready.gateway).pushText('newest')
    await away.stop()
    // Nor where a failing disk has spoilt what was known of the clipboard.
    await writeFile(join(folder, 'data', 'sharing'), Uint8Array.of(0xff))
    const again = await startDaemonProcess(t, { folder, env })
    await offersNewest(paste, createPhone(device, again.ready.gateway))
  })
})

describe('what a push was to replace when the daemon was killed', needs('Xvfb', 'xclip'), () => {
  it('is not taken for a new copy where the daemon was stopped instead', async (t) => {
    const { server, env, copy, paste } = await openX11(t)
    const daemon = await startDaemonProcess(t, { devices: ['Phone'], env })
    const { folder } = daemon
    const device = await daemon.pair('Phone')
    const phone = createPhone(device, daemon.ready.gateway)
    await copy('older')
    await phone.reads({ text: 'older' })
    server.freeze()
    await phone.pushText('newest')
    await daemon.stop()
    await assert.rejects(access(join(folder, 'data', 'lock')))
    server.thaw()
    const again = await startDaemonProcess(t, { folder, env })
    await offersNewest(paste, createPhone(device, again.ready.gateway))
  })

  for (const kind of ['text', 'file']) {
    it(`is not taken for a new copy: a ${kind}`, async (t) => {
      const { server, env, copy, paste } = await openX11(t)
      const daemon = await startDaemonProcess(t, { devices: ['Phone'], env })
      const { folder } = daemon
      const device = await daemon.pair('Phone')
      const phone = createPhone(device, daemon.ready.gateway)
      const path = join(folder, 'older.txt')
      await writeFile(path, 'bytes')
      const older = kind === 'text' ? { text: 'older' } : { dataName: 'older.txt' }
      const copyOlder = () =>
        kind === 'text' ? copy('older') : copy(uriList(path), 'text/uri-list')
      await copyOlder()
      await phone.reads(older)
      // Nothing can be written meanwhile; what was stored is acknowledged.
      server.freeze()
      for (const text of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'newest']) {
        await phone.pushText(text)
      }
      await daemon.kill()
      server.thaw()
      // Whatever a command does on the folder meanwhile, it is no stop of the daemon.
      await daemon.run('pair', '--label', 'Other phone')
      // Nor is a start that fails, or one that never sees the clipboard.
      const args = ['--listen', '192.0.2.1:1']
      await assert.rejects(startDaemonProcess(t, { folder, env, args }), /Cannot listen/)
      await (await startDaemonProcess(t, { folder, args: ['--headless'] })).stop()
      const away = { DISPLAY: ':999999', CLIPGATE_CLIPBOARD: 'x11' }
      await (await startDaemonProcess(t, { folder, env: away })).stop()
      const again = await startDaemonProcess(t, { folder, env })
      await offersNewest(paste, createPhone(device, again.ready.gateway))

      // Nothing is left of it after a stop: it was copied again.
      await again.stop()
      await copyOlder()
      const last = await startDaemonProcess(t, { folder, env })
      await createPhone(device, last.ready.gateway).reads(older)
    })
  }
})

it('what wl-copy still offers of a daemon that was killed is no copy, though the push was another', {
  ...needs(...SWAY_TOOLS),
  timeout: 60_000,
}, async (t) => {
  const { server, env, paste } = await openWayland(t)
  const daemon = await startDaemonProcess(t, { devices: ['Phone'], env })
  const { folder } = daemon
  const device = await daemon.pair('Phone')
  const phone = createPhone(device, daemon.ready.gateway)
  await phone.pushFile('Image', 'photo.jpg', await readFile(PHOTO))
  while ((await paste('image/png')) === undefined);
  server.freeze()
  await phone.pushText('newest')
  await daemon.kill()
  server.thaw()
  const again = await startDaemonProcess(t, { folder, env })
  await offersNewest(paste, createPhone(device, again.ready.gateway))
})
