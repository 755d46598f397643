import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { connect } from '../../src/client/connect.ts'
import { pasteUntil, wlCopy, wlPaste } from '../desktop/wayland/support/wl-clipboard.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { Sway, SWAY_TOOLS } from '../support/sway.ts'

/** A desktop with a daemon on it, a phone, and a client that waits for what is copied. */
async function setUp(t: TestContext) {
  const sway = await Sway.start(t)
  const daemon = await startDaemonProcess(t, { env: sway.env })
  t.after(() => daemon.stop())
  const { mode, clipboard, gateway } = daemon.ready
  assert.deepEqual([mode, clipboard], ['desktop', 'wayland'], daemon.stderr())
  const phone = createPhone(await daemon.pair('Phone'), gateway)
  const client = connect((await daemon.pair('Watch')).link)
  const documents = client.watch()
  t.after(() => documents.return?.())
  /** The next document that fits; those before it may be missed. */
  const next = async (wanted: Record<string, unknown>): Promise<void> => {
    for await (const document of {
      [Symbol.asyncIterator]: () => ({ next: () => documents.next() }),
    }) {
      const fields: Record<string, unknown> = { ...document }
      if (Object.entries(wanted).every(([key, value]) => fields[key] === value)) return
    }
    assert.fail('the watch ended')
  }
  return { sway, env: sway.env, daemon, phone, next }
}

describe('a Wayland desktop and a phone', { ...needs(...SWAY_TOOLS), timeout: 120_000 }, () => {
  it('have one clipboard for text', async (t) => {
    const { env, phone, next } = await setUp(t)
    const text = 'from the desktop: äöü 🙂\n'
    await wlCopy(t, env, text)
    await next({ type: 'Text', text })
    const answer = Buffer.from('from the phone: \t€ 漢字')
    await phone.pushText(answer.toString())
    await pasteUntil(env, 'text/plain;charset=utf-8', answer)
    await pasteUntil(env, 'UTF8_STRING', answer)
  })

  it('have one clipboard for images', async (t) => {
    const { env, phone, next } = await setUp(t)
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(1_500_000)])
    await wlCopy(t, env, png, 'image/png')
    await next({ type: 'Image', size: png.length })
    assert.ok((await phone.download()).equals(png), 'the bytes are the same')
    const jpeg = Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), randomBytes(800_000)])
    await phone.pushFile('Image', 'photo.jpg', jpeg)
    await pasteUntil(env, 'image/jpeg', jpeg)
  })

  it('have one clipboard for files', async (t) => {
    const { env, daemon, phone, next } = await setUp(t)
    const bytes = randomBytes(700_000)
    const path = join(daemon.folder, 'notes é.bin')
    await writeFile(path, bytes)
    await wlCopy(t, env, `${pathToFileURL(path)}\r\n`, 'text/uri-list')
    await next({ type: 'File', dataName: 'notes é.bin' })
    assert.ok((await phone.download()).equals(bytes), 'the bytes are the same')

    const pushed = randomBytes(300_000)
    await phone.pushFile('File', 'from phone.bin', pushed)
    const received = join(daemon.folder, 'received', 'from phone.bin')
    await pasteUntil(env, 'text/uri-list', Buffer.from(`${pathToFileURL(received)}\r\n`))
    const uris = String(await wlPaste(env, 'text/uri-list'))
    assert.ok((await readFile(fileURLToPath(uris.trim()))).equals(pushed), 'the bytes are the same')
  })

  it('hear no echo of what the phone pushed', async (t) => {
    const { env, phone, next } = await setUp(t)
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(50_000)])
    await phone.pushFile('Image', 'a.png', png)
    await pasteUntil(env, 'image/png', png)
    const seen = new Set<string | null>()
    // The next real copy proves that the changes before it were dealt with.
    await wlCopy(t, env, 'the end')
    for (let text: unknown; text !== 'the end'; ) {
      const response = await phone.fetch('/Sync.json')
      text = Object(await response.json()).text
      seen.add(response.headers.get('etag'))
    }
    assert.ok(seen.size <= 2, 'only the push and the last copy were ever current')
    await next({ text: 'the end' })
  })

  it('find together again after the compositor was restarted', async (t) => {
    const { sway, env, daemon, phone, next } = await setUp(t)
    await sway.crash()
    await phone.pushText('meanwhile')
    await sway.restart()
    await pasteUntil(env, 'UTF8_STRING', Buffer.from('meanwhile'))
    await wlCopy(t, env, 'and back')
    await next({ text: 'and back' })
    assert.match(daemon.stderr(), /compositor is away/)
    assert.match(daemon.stderr(), /has recovered/)
  })

  it('leave no program that watches behind when the daemon is killed', async (t) => {
    const { daemon } = await setUp(t)
    const { pid } = daemon.child
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
    const commandOf = (id: string) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    const commands = await Promise.all(children.map(commandOf))
    const watch = children[commands.findIndex((command) => command.startsWith('wl-paste'))]
    assert.ok(watch !== undefined, commands.join())
    daemon.child.kill('SIGKILL')
    while ((await commandOf(watch)) !== '');
  })

  it('share what was copied before the daemon was started', async (t) => {
    const sway = await Sway.start(t)
    await wlCopy(t, sway.env, 'early')
    const daemon = await startDaemonProcess(t, { env: sway.env })
    t.after(() => daemon.stop())
    const documents = connect((await daemon.pair('Watch')).link).watch()
    t.after(() => documents.return?.())
    assert.equal((await documents.next()).value?.text, 'early')
  })
})
