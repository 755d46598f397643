import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { X11Clipboard } from '../../../src/desktop/x11/x11-clipboard.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { SILENT } from '../support/open-reconciler.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { needs } from '../../support/requirements.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { Xvfb } from '../../support/xvfb.ts'

describe('X11Clipboard, when it cannot be opened', { timeout: 60_000 }, () => {
  it('says that there is no display', async (t) => {
    withEnvironment(t, 'DISPLAY', undefined)
    await assert.rejects(open({}), /DISPLAY is not set/)
    withEnvironment(t, 'DISPLAY', '')
    await assert.rejects(open({}), /DISPLAY is not set/)
  })

  it('says that the name of the display makes no sense', async () => {
    for (const display of ['nonsense', ':', ':x', 'host:70000', ':0.0.0']) {
      await assert.rejects(open({ display }), /name of the X display/, display)
    }
  })

  it('says that there is no server, and does not look for one on localhost', async (t) => {
    const { port } = await listen(t, (socket) => assert.fail(`asked ${socket.localPort}`))
    await assert.rejects(open({ display: `:${port - 6000}` }), /Cannot reach the X server/)
  })

  it('gives a server up that accepts and says nothing', async (t) => {
    const accepted = new Mailbox<Socket>()
    const { display } = await listen(t, (socket) => accepted.put(socket))
    const clock = new FakeClock()
    const rejected = assert.rejects(open({ display, clock }), /does not answer/)
    await accepted.next()
    clock.advance(2000)
    await rejected
  })

  it('says that a server hung up', async (t) => {
    const { display } = await listen(t, (socket) => socket.destroy())
    await assert.rejects(open({ display }), /X server/)
  })

  it('says that a server lacks XFIXES', async (t) => {
    // The library brings a small server of its own, which lacks it.
    const { createServer: createXServer } = createRequire(import.meta.url)('x11')
    const { display } = await listen(t, (socket) => createXServer().addClientStream(socket))
    await assert.rejects(open({ display }), /XFIXES/)
  })

  it('shows the cookie of the user, and says when it is refused', needs('Xvfb'), async (t) => {
    const folder = await temporaryFolder(t)
    const [right, wrong] = [join(folder, 'right'), join(folder, 'wrong')]
    await writeFile(right, authorityOf('0123456789abcdef'))
    await writeFile(wrong, authorityOf('fedcba9876543210'))
    const server = await Xvfb.start(t, ['-auth', right])
    const { display } = server
    withEnvironment(t, 'XAUTHORITY', right)
    await (await open({ display })).close()
    withEnvironment(t, 'XAUTHORITY', wrong)
    await assert.rejects(open({ display }), /X server connection failed/)
  })

  it('says that the cookie file cannot be read, and lives on', async (t) => {
    const folder = await temporaryFolder(t)
    withEnvironment(t, 'XAUTHORITY', folder)
    await assert.rejects(open({ display: ':0' }), /XAUTHORITY/)
  })

  it('does not keep the program running', needs('Xvfb'), async (t) => {
    const server = await Xvfb.start(t)
    const url = (path: string): string => new URL(`../../../src/${path}`, import.meta.url).href
    const script = `
      import { systemClock as clock } from '${url('lib/clock.ts')}'
      import { X11Clipboard } from '${url('desktop/x11/x11-clipboard.ts')}'
      const logger = { debug() {}, info() {}, warn() {}, error() {} }
      const events = { onChange() {}, onLost() {}, onBack() {}, onTrouble() {} }
      const clipboard = await X11Clipboard.open({ events, logger, clock, readAtStart: true })
      await clipboard.write({ kind: 'text', text: 'x' })
      await clipboard.close()`
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
    const env = { ...process.env, DISPLAY: server.display }
    const program = spawn(process.execPath, args, { env, stdio: 'inherit' })
    assert.deepEqual(await once(program, 'exit'), [0, null])
  })
})

function open(options: { display?: string; clock?: Clock }, adapter = X11Clipboard) {
  const deps = { events: SILENT, logger: new CaptureLogger(), clock: systemClock }
  return adapter.open({ ...deps, readAtStart: false, ...options })
}

/** Listens as an X server would; displays on TCP count from port 6000. */
async function listen(t: TestContext, onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    // A client that gives up may reset the connection.
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { port, display: `127.0.0.1:${port - 6000}` }
}

function withEnvironment(t: TestContext, name: string, value: string | undefined): void {
  const before = process.env[name]
  const set = (to: string | undefined): void => {
    if (to === undefined) delete process.env[name]
    else process.env[name] = to
  }
  set(value)
  t.after(() => set(before))
}

/** A cookie file for every display of every host. */
function authorityOf(cookie: string): Buffer {
  const parts = ['', '', 'MIT-MAGIC-COOKIE-1', cookie].map((part) =>
    Buffer.concat([Buffer.from([0, part.length]), Buffer.from(part)]),
  )
  return Buffer.concat([Buffer.from([0xff, 0xff]), ...parts])
}
