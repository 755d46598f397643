import assert from 'node:assert/strict'
import { randomBytes, X509Certificate } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { restart, startDaemon } from '../panel/support/panel.ts'
import type { PairedDevice } from '../support/daemon-process.ts'
import { layCable, needsMachines } from '../support/machines.ts'
import { onlyAtNight } from '../support/night.ts'
import { ownerOf } from '../support/owner.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { unzip } from '../support/unzip.ts'
import { untilIn } from '../support/until-in.ts'
import { hashOfFile, pushFilm, sendThroughBreaks, type Wired } from './support/film.ts'
import { openWebKit, type WebKit, type WebKitOptions } from './support/webkit.ts'
import { layWire } from './support/wire.ts'
import { execute } from '../support/execute.ts'
import { sha256 } from '../support/hashes.ts'

interface OpenWebKitPage extends Wired {
  readonly page: WebKit
  readonly device: PairedDevice
  /** What the camera reads. */
  readonly address: string
}

/** Whether something takes what is shared with the page. */
const HAS_WORKER = `navigator.serviceWorker.getRegistrations()
  .then(([one]) => one?.active?.state === 'activated')`

const SECURE = ['--tls', 'local', '--tls-listen']

/** The authorities that the system trusts, as Debian has them. */
const SYSTEM_BUNDLE = '/etc/ssl/certs/ca-certificates.crt'

const IS_LIVE = `document.documentElement.dataset.way === 'live'`

async function openPage(
  t: TestContext,
  options: Partial<WebKitOptions> = {},
): Promise<OpenWebKitPage> {
  const cable = await layCable(t, 'browser')
  const args = ['--clipboard', 'none', '--listen', `${cable.here}:0`]
  const daemon = await startDaemon(t, { args, devices: ['iPhone', 'Other'] })
  const { gateway } = daemon.ready
  const device = await daemon.pair('iPhone')
  const other = await daemon.phone('Other')
  const page = await openWebKit(t, { ...cable, ...options })
  const wire = await layWire(t, gateway, cable.here)
  const address = `${wire.url}/phone#${new URL(device.link).searchParams.get('p')}`
  await page.goto(address)
  await page.until(IS_LIVE)
  const send = (...paths: readonly string[]): Promise<void> =>
    page.type('input[type=file][multiple]', paths.join('\n'))
  return { page, daemon, device, address, wire, other, send }
}

/** What a program beside the browser pastes. */
async function pasted({ display }: WebKit): Promise<string> {
  const args = ['-selection', 'clipboard', '-out']
  const env = { ...process.env, DISPLAY: display }
  return (await execute('xclip', args, { env })).stdout
}

/** Has the browser save a file, which it makes before it has the bytes. @returns Their hash. */
async function save(page: WebKit, name: string, size: number): Promise<string> {
  await page.shows(name)
  await page.tap('Save')
  const path = join(page.home, name)
  await untilIn(page.home, () =>
    stat(path).then(
      (it) => it.size >= size,
      () => false,
    ),
  )
  return hashOfFile(path)
}

describe('the phone page in WebKit', needsMachines('WebKitWebDriver', 'Xvfb', 'xclip'), () => {
  it('works at an address that is not trusted, and clears it of credentials', async (t) => {
    const { page, address, device, other } = await openPage(t)
    assert.equal(await page.evaluate('return isSecureContext'), false)
    await page.shows('Nothing there yet')
    assert.equal(await page.evaluate('return location.href'), address.split('#')[0])
    assert.equal(await page.evaluate('return history.state'), null)
    const html = String(await page.evaluate('return document.documentElement.outerHTML'))
    assert.ok(!html.includes(device.password))
    await page.evaluate('location.reload()')
    await page.until(IS_LIVE)

    // What others copy is there at once, and a tap copies it for the programs beside the browser.
    for (const text of ['first <b>line</b>\nsecond', '周五晚上 🎉']) {
      await other.pushText(text)
      await page.until(`document.querySelector('pre')?.textContent === ${JSON.stringify(text)}`)
      await page.tap('Copy')
      await page.shows('Copied')
      assert.equal(await pasted(page), text)
    }
  })

  it('sends a text and several files, and lets the browser save what is there', async (t) => {
    const { page, other, send } = await openPage(t)
    await page.type('textarea', 'from the phone')
    await page.tap('Send')
    await other.reads({ text: 'from the phone' })
    const folder = await temporaryFolder(t)
    const [one, two] = [join(folder, 'one.txt'), join(folder, 'zwei ä.bin')]
    const bytes = randomBytes(3_000_000)
    await writeFile(one, 'the first')
    await writeFile(two, bytes)
    await send(one, two)
    await other.reads({ type: 'Group' })
    const files = { 'one.txt': 'the first', 'zwei ä.bin': bytes.toString('latin1') }
    assert.deepEqual(await unzip(await other.download()), files)

    const png = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
    await other.pushFile('Image', 'shot.png', png)
    await page.until(`document.querySelector('img')?.naturalWidth > 0`)
    const hash = sha256(png)
    assert.equal(await save(page, 'shot.png', png.length), hash)
    const film = await pushFilm(t, other)
    assert.equal(await save(page, 'film.bin', film.size), film.hash)
  })

  // By day Chromium sends them.
  it(
    'brings a film and three photos there, whatever breaks on the way',
    onlyAtNight(),
    async (t) => {
      const wired = await openPage(t)
      const isSent = (nth: number): Promise<void> =>
        wired.page.until(
          `/Sent/m.test(document.querySelectorAll('.uploads li')[${nth}]?.innerText)`,
        )
      await sendThroughBreaks(t, { ...wired, isSent })
    },
  )

  it('gets well when the daemon is back, and forgets all when it is removed', async (t) => {
    const { page, daemon, device, address, other } = await openPage(t)
    await other.pushText('secret')
    await page.shows('secret')
    await daemon.stop()
    await page.shows('The computer does not answer')
    await restart(t, daemon)
    await page.until(IS_LIVE)
    await page.shows('secret')

    const removed = 'This phone was disconnected on the computer'
    await daemon.run('revoke', device.id)
    await page.shows(removed)
    assert.equal(await page.evaluate(`return document.body.innerText.includes('secret')`), false)
    assert.equal(await page.evaluate('return localStorage.length'), 0)

    const { username } = await daemon.pair('Another')
    await page.goto('about:blank')
    await page.goto(`${address.split('#')[0]}#${username}:wrong`)
    await page.shows(removed)
  })

  it('goes on with a file when somebody leaves it and comes back', async (t) => {
    const { page, wire, other, send } = await openPage(t)
    await page.evaluate('window.isKept = true')
    // Nothing passes until it is back, when the way breaks.
    const broken = wire.breakAt(1_000_000, async () => {
      await page.evaluate(`location.href = '${wire.url}/phone/icon.svg'`)
      await page.until(`!('isKept' in window)`)
      await page.evaluate('setTimeout(() => history.back(), 0)')
      await page.until('window.isKept')
    })
    await send(await temporaryFile(t, 'film.bin', randomBytes(9_000_000)))
    await broken
    await other.reads({ dataName: 'film.bin' })
    await page.shows('Sent')
  })

  it('is signed out when it comes back from before that', async (t) => {
    const { page, wire, other } = await openPage(t)
    await page.goto(`${wire.url}/phone/icon.svg`)
    await page.goto(`${wire.url}/phone`)
    await page.tap('Sign out on this phone')
    await page.tap('Tap again to sign out')
    await page.shows('Signed out')
    await other.pushText('secret')
    await page.evaluate('history.go(-2)')
    await page.shows('Connect this phone')
    assert.equal(await page.evaluate('return localStorage.length'), 0)
  })

  it('has the account that came meanwhile when it comes back from before that', async (t) => {
    const { page, wire, daemon } = await openPage(t)
    const account = `document.querySelector('a[href^="clip:"]')?.href`
    const before = await page.evaluate(`window.isBefore = true; return ${account}`)
    await page.goto(`${wire.url}/phone/icon.svg`)
    const { username, password } = await daemon.pair('New')
    await page.goto(`${wire.url}/phone#${username}:${encodeURIComponent(password)}`)
    await page.until(IS_LIVE)
    const since = await page.evaluate(`return ${account}`)
    assert.notEqual(since, before)
    await page.evaluate(`history.go(-2)`)
    await page.until('window.isBefore')
    await page.until(`${account} === ${JSON.stringify(since)}`)
  })

  it('has HTTPS once the system trusts the authority, and not before', async (t) => {
    const cable = await layCable(t, 'browser')
    const args = [
      '--clipboard',
      'none',
      '--listen',
      `${cable.here}:0`,
      ...SECURE,
      `${cable.here}:0`,
    ]
    const daemon = await startDaemon(t, { args })
    const { username, password } = await daemon.pair('iPhone')
    const account = `/phone#${username}:${encodeURIComponent(password)}`
    const { tls } = await (await ownerOf(daemon)).status()
    const secure = new URL(tls?.urls.at(-1) ?? '')
    const authority = await readFile(join(daemon.folder, 'data', 'tls-authority.pem'), 'utf8')
    const bundle = await temporaryFile(t, 'trusted.crt', new X509Certificate(authority).toString())
    const { machine } = cable
    // Each command there has mounts of its own.
    const trusting = ['sh', '-c', `mount --bind "$0" ${SYSTEM_BUNDLE} && exec "$@"`, bundle]
    const told = { ...machine, inside: [...machine.inside, ...trusting] }
    const page = await openWebKit(t, { ...cable, machine: told })
    await page.goto(daemon.ready.gateway + account)
    await page.tap('Use HTTPS')
    await page.tap(`Go on at ${secure.host}`)
    await page.until(`isSecureContext && ${IS_LIVE}`)
    assert.equal(await page.evaluate('return location.href'), `${secure.origin}/phone`)
    while ((await page.evaluate(`return ${HAS_WORKER}`)) !== true);
    await page.close()

    const elsewhere = await layCable(t, 'browser')
    await elsewhere.machine.ip('route', 'add', cable.here, 'via', elsewhere.here)
    const stranger = await openWebKit(t, elsewhere)
    await stranger.goto(secure.origin + account)
    // In place of the page it may say that it has cancelled that.
    const parts = 'return document.head.childElementCount + document.body.childElementCount'
    assert.equal(await stranger.evaluate(parts), 0)
  })

  it('is dark where the system is, and fits the narrowest window', async (t) => {
    const env = { GTK_THEME: 'Adwaita:dark' }
    const { page, other } = await openPage(t, { env, screen: [320, 700] })
    await other.pushText('W'.repeat(300))
    await page.until(`document.querySelector('pre')`)
    assert.equal(
      await page.evaluate(`return matchMedia('(prefers-color-scheme: dark)').matches`),
      true,
    )
    const width = Number(await page.evaluate('return innerWidth'))
    // The bar of this browser needs a little more than 320.
    assert.ok(width < 360, String(width))
    assert.equal(await page.evaluate('return document.documentElement.scrollWidth'), width)
  })
})
