import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { chromium, devices, type BrowserContext, type Page } from 'playwright-core'
import { createLeaf } from '../../src/tls/authority.ts'
import { trustFiles } from '../../src/tls/trust-page.ts'
import { startDaemon } from '../panel/support/panel.ts'
import {
  isolatedEnvironment,
  startDaemonProcess,
  type DaemonProcess,
} from '../support/daemon-process.ts'
import { execute } from '../support/execute.ts'
import { listen } from '../support/listen.ts'
import { type Machine, makeMachine, needsMachines, plug } from '../support/machines.ts'
import { ownerOf } from '../support/owner.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { openPhonePage } from './support/phone-page.ts'

/** The name that every certificate of this machine has. */
const NAME = `${hostname().toLowerCase().split('.')[0]}.local`

const IS_ACTIVE = `navigator.serviceWorker.getRegistrations()
  .then(([one]) => one?.active?.state === 'activated')`

/** Remembers the locks that the page gets. */
const WATCH_LOCKS = `{
  globalThis.locks = []
  const { request } = WakeLock.prototype
  WakeLock.prototype.request = async function (kind) {
    const lock = await request.call(this, kind)
    locks.push(lock)
    return lock
  }
}`

const IS_AWAKE = `locks.some(({ released }) => !released)`

/** The authority of a daemon, as its file has it: certificate and key. */
function authorityOf({ folder }: DaemonProcess): Promise<string> {
  return readFile(join(folder, 'data', 'tls-authority.pem'), 'utf8')
}

async function startSecure(
  t: TestContext,
  at: string,
  folder?: string,
): Promise<{ readonly daemon: DaemonProcess; readonly port: string }> {
  const args = ['--clipboard', 'none', '--tls', 'local', '--tls-listen', at]
  const daemon = await startDaemon(t, { args, ...(folder !== undefined && { folder }) })
  const { listeners } = await (await ownerOf(daemon)).status()
  const { urls = [] } = listeners.find(({ name }) => name === 'tls') ?? {}
  return { daemon, port: new URL(urls[0] ?? '').port }
}

/** The home of somebody who has told the system to trust an authority. */
async function makeHome(t: TestContext, authority: string): Promise<string> {
  const home = await temporaryFolder(t)
  const [store, cert] = [join(home, '.pki', 'nssdb'), join(home, 'authority.pem')]
  await mkdir(store, { recursive: true })
  await writeFile(cert, new X509Certificate(authority).toString())
  const certutil = (...args: readonly string[]) =>
    execute('certutil', ['-d', `sql:${store}`, ...args])
  await certutil('-N', '--empty-password')
  await certutil('-A', '-n', 'clipgate', '-t', 'C,,', '-i', cert)
  return home
}

/** A Chromium of that person, on a phone: a machine, or one that finds every name at an address. */
async function launch(
  t: TestContext,
  home: string,
  phone: string | Machine,
): Promise<BrowserContext> {
  const { PATH } = isolatedEnvironment(home)
  const isHere = typeof phone === 'string'
  const inside = isHere ? [] : phone.inside
  const command = [...inside, '/usr/bin/chromium'].map((word) => `'${word}'`).join(' ')
  const program = await temporaryFile(t, 'chromium', `#!/bin/sh\nexec ${command} "$@"\n`)
  await chmod(program, 0o700)
  const context = await chromium.launchPersistentContext(join(home, 'profile'), {
    ...devices['Pixel 7'],
    executablePath: program,
    args: [
      ...(isHere ? [`--host-resolver-rules=MAP * ${phone}`] : []),
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    ],
    env: { PATH: PATH ?? '', HOME: home },
    permissions: ['clipboard-read', 'clipboard-write', 'screen-wake-lock'],
    timeout: 120_000,
  })
  t.after(() => context.close())
  context.setDefaultTimeout(120_000)
  return context
}

async function openAt(context: BrowserContext, url: string): Promise<Page> {
  const [page = await context.newPage()] = context.pages()
  await page.goto(url)
  await page.locator('[data-way=live]').waitFor()
  return page
}

/** Posts as the share sheet does; but so could a page of another site. */
async function share(page: Page, base: string, buffer: Buffer): Promise<void> {
  await page.goto('about:blank')
  await page.setContent(`<form method=post enctype=multipart/form-data
    action='${base}/phone/share'><input name=text value='a shared text'>
    <input type=file name=files multiple></form>`)
  const shared = { name: 'shared.txt', mimeType: 'text/plain', buffer }
  await page.locator('input[type=file]').setInputFiles([shared])
  await page.evaluate('document.forms[0].submit()')
  await page.locator('[data-way=live]').waitFor()
}

describe('the phone page over HTTPS', needs('chromium', 'certutil'), () => {
  it('pastes, copies, is installed, is shared to, and is at home by its name', async (t) => {
    const { daemon, port } = await startSecure(t, '127.0.0.1:0')
    const device = await daemon.pair('Pixel')
    const other = await daemon.phone('Other')
    const home = await makeHome(t, await authorityOf(daemon))
    const context = await launch(t, home, '127.0.0.1')
    await context.addInitScript(WATCH_LOCKS)
    const base = `https://${NAME}:${port}`
    const page = await openAt(context, `${base}/phone#${device.username}:${device.password}`)
    assert.equal(await page.evaluate('isSecureContext'), true)

    await t.test('copies pictures, and pastes with one tap', async () => {
      const png = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
      await other.pushFile('Image', 'shot.png', png)
      await page.getByRole('button', { name: 'Copy image' }).tap()
      await page.getByText('Copied').waitFor()
      await page.getByRole('button', { name: 'Paste' }).tap()
      await other.reads({ dataName: 'image.png' })
      await page.evaluate(`navigator.clipboard.writeText('one tap')`)
      await page.getByRole('textbox').fill('typed, ')
      await page.getByRole('button', { name: 'Paste' }).tap()
      while (!(await page.getByRole('textbox').inputValue()).includes('one tap'));
      assert.equal(await page.getByRole('textbox').inputValue(), 'typed, one tap')
    })

    await t.test('keeps the screen on while a film goes, and no longer', async () => {
      const session = await context.newCDPSession(page)
      const slow = { uploadThroughput: 100_000, downloadThroughput: -1, latency: 0, offline: false }
      await session.send('Network.emulateNetworkConditions', slow)
      assert.equal(await page.evaluate(IS_AWAKE), false)
      const film = { name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(4_000_000) }
      await page.locator('input[type=file]').first().setInputFiles([film])
      while (!(await page.evaluate(IS_AWAKE)));
      await page.getByRole('button', { name: 'Cancel: film.mp4' }).tap()
      while (await page.evaluate(IS_AWAKE));
      await session.detach()
    })

    await t.test('can be installed, and shares are sent when a person says so', async () => {
      while (!(await page.evaluate(IS_ACTIVE)));
      const session = await context.newCDPSession(page)
      const { errors } = await session.send('Page.getAppManifest')
      assert.deepEqual(errors, [])
      const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
      assert.deepEqual(installabilityErrors, [])
      await session.detach()
      await other.pushText('before')

      const buffer = Buffer.from('a shared file')
      await share(page, base, buffer)
      assert.equal(page.url(), `${base}/phone`)
      const send = page.getByRole('button', { name: 'Send what was shared (1)' })
      await send.waitFor()
      assert.equal(await page.getByRole('textbox').inputValue(), 'a shared text')
      assert.equal((await other.document())['text'], 'before')
      assert.deepEqual(await page.evaluate('caches.keys()'), [])
      await send.tap()
      await other.reads({ dataName: 'shared.txt' })
      assert.deepEqual(await other.download(), buffer)
    })

    await t.test('is at home when the computer has another address', async () => {
      await context.close()
      await daemon.stop()
      // Its certificate is another one as well, of the same authority.
      await startSecure(t, `127.0.0.2:${port}`, daemon.folder)
      const later = await launch(t, home, '127.0.0.2')
      const again = await openAt(later, `${base}/phone`)
      await again.getByRole('button', { name: 'Sign out on this phone' }).tap()
      await again.getByRole('button', { name: 'Tap again' }).tap()
      await again.getByText('Nothing is left in this browser').waitFor()
      while (await again.evaluate(IS_ACTIVE));
    })
  })

  it(
    'goes on by its name when the computer has another address',
    needsMachines('chromium', 'certutil'),
    async (t) => {
      const desk = await makeMachine(t, 'desk')
      const phone = await makeMachine(t, 'phone', { [NAME]: '192.168.7.2' })
      await plug('home', [desk, '192.168.7.2/24'], [phone, '192.168.7.3/24'])
      const listenAt = ['--listen', '0.0.0.0:42720', '--tls-listen', '0.0.0.0:42722']
      const args = ['--headless', '--tls', 'local', ...listenAt]
      const daemon = await startDaemonProcess(t, { args, wrapper: desk.inside })
      const { username, password } = await daemon.pair('Pixel')
      const home = await makeHome(t, await authorityOf(daemon))
      const base = `https://${NAME}:42722`
      const page = await openAt(
        await launch(t, home, phone),
        `${base}/phone#${username}:${password}`,
      )

      await desk.ip('address', 'del', '192.168.7.2/24', 'dev', 'home')
      await desk.ip('address', 'add', '192.168.7.9/24', 'dev', 'home')
      while (!daemon.log().includes('certificate is another one')) {
        await once(daemon.child.stderr ?? daemon.child, 'data')
      }
      await phone.learn({ [NAME]: '192.168.7.9' })
      await phone.ip('link', 'set', 'home', 'down')
      await page.locator('[data-way=away]').waitFor()
      await phone.ip('link', 'set', 'home', 'up')
      const text = JSON.stringify({ type: 'Text', text: 'after' })
      const trusting = ['--cacert', join(daemon.folder, 'data', 'tls-authority.pem')]
      const as = [...trusting, '-u', `${username}:${password}`]
      await phone.curl(...as, '--fail', '--data-binary', text, '-X', 'PUT', `${base}/Sync.json`)
      await page.getByText('after', { exact: true }).waitFor()
      assert.equal(page.url(), `${base}/phone`)
    },
  )

  it('is led to from the plain page, which leads nowhere else with an account', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const wrong = ['javascript:alert(1)//', 'http://desktop.lan:1', '//desktop.lan', 'no address']
    await page.route('**/phone/state', async (route) => {
      const https = { urls: [...wrong, 'https://desktop.lan:42722'], needsTrust: false }
      await route.fulfill({ json: { name: 'desktop', paused: false, https, recent: [] } })
    })
    await other.pushText('looks again')
    await page.getByText('Use HTTPS').tap()
    const ways = await page.locator('details[open] a').all()
    const hrefs = await Promise.all(ways.map((way) => way.getAttribute('href')))
    assert.deepEqual(
      hrefs.map((href) => href?.split('#')[0]),
      ['https://desktop.lan:42722/phone'],
    )
    assertCalm()
  })

  it('is ticked on the page for trust where it is trusted, and what is signed for public names is refused', async (t) => {
    const { daemon, port } = await startSecure(t, '127.0.0.1:0')
    const pem = await authorityOf(daemon)
    const context = await launch(t, await makeHome(t, pem), '127.0.0.1')
    const [page = await context.newPage()] = context.pages()
    const names = ['printer.lan', 'www.example.com']
    const [home = 0, world = 0] = await Promise.all(
      [['printer.lan'], names].map((some) => {
        const leaf = createLeaf({ cert: pem, key: pem }, some, Date.now())
        return listen(
          t,
          createSecureServer(leaf, (_, response) => response.end('in')),
        )
      }),
    )
    await page.goto(`https://printer.lan:${home}/`)
    await page.getByText('in').waitFor()
    const refused = await context.newPage()
    for (const name of names) {
      await assert.rejects(refused.goto(`https://${name}:${world}/`), /ERR_CERT_/, name)
    }

    const urls = [`https://${NAME}:${port}`, `https://printer.lan:${world}`]
    const trust = {
      cert: new X509Certificate(pem).toString(),
      fingerprint: 'AA:BB',
      urls: () => urls,
    }
    const by = { isSecure: false, host: 'desktop' }
    const plain = createServer((_, response) => {
      const { mediaType = '', headers = [], body } = trustFiles(trust, undefined)('', by) ?? {}
      response.writeHead(200, ['Content-Type', mediaType, ...headers])
      response.end(body)
    })
    await page.goto(`http://desktop.test:${await listen(t, plain)}/phone/trust`)
    const widths = await page.evaluate(
      `Promise.all([...document.images].map((one) => one.decode().then(() => one.naturalWidth, () => 0)))`,
    )
    // In English and in Chinese.
    assert.deepEqual(widths, [24, 0, 24, 0])
    await page
      .getByRole('link', { name: urls[0] ?? '' })
      .first()
      .click()
    await page.getByText('It works').waitFor()
    await page.getByRole('link', { name: 'Open the page for phones' }).click()
    await page.getByText('Connect this phone').waitFor()
  })
})
