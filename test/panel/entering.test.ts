import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openPage } from './support/browser.ts'
import { deviceRow, enter, openPanel, panelAddress, startDaemon } from './support/panel.ts'

/** Another site than `127.0.0.1`. */
const ELSEWHERE = 'localhost'

/** A site of somebody else, on this machine. */
async function serveSite(t: TestContext, html: string, host = ELSEWHERE): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(html)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  // An address without a port is always an object.
  const { port } = server.address() as AddressInfo
  return `http://${host}:${port}/`
}

/** A picture that any page would show. */
const DOT = PNG.sync.write(new PNG({ width: 1, height: 1 }))

const TOKEN = /[\w-]{43}/

/** What Chromium does where its user lets no site keep data. */
const DENY = `{
  const deny = () => { throw new DOMException('Access is denied', 'SecurityError') }
  for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: deny })
  for (const name of ['query', 'request']) LockManager.prototype[name] = async () => deny()
}`

async function assertSignedIn(page: Page, control: string): Promise<void> {
  await page.getByText('Connected', { exact: true }).waitFor()
  assert.equal(page.url(), `${control}/`)
  assert.equal(await page.evaluate('location.href'), `${control}/`)
  const session = await page.context().newCDPSession(page)
  const { entries } = await session.send('Page.getNavigationHistory')
  assert.deepEqual(
    entries.filter(({ url }) => TOKEN.test(url)),
    [],
  )
}

async function assertSignedOut(page: Page): Promise<void> {
  await page.getByText('clipgate panel', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Add a device' }).isVisible(), false)
}

describe('entering the panel', needs('chromium'), () => {
  it('leaves no token in the address, in the history of the tab, or in any request line', async (t) => {
    const daemon = await startDaemon(t)
    const { page, assertCalm } = await openPage()
    const asked: string[] = []
    page.on('request', (request) => {
      const { referer = '' } = request.headers()
      // What a browser calls the URL of a request has the fragment, which is not sent.
      asked.push(`${request.url().split('#', 1)[0]} ${referer} ${request.postData() ?? ''}`)
    })
    await page.goto(await panelAddress(daemon))
    await assertSignedIn(page, daemon.ready.control)
    assert.ok(asked.length > 2, asked.join('\n'))
    assert.deepEqual(
      asked.filter((text) => TOKEN.test(text)),
      [],
    )
    assertCalm()
  })

  it('lasts for as long as the tab, also over a reload; no other tab has it', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    await page.reload()
    await assertSignedIn(page, daemon.ready.control)
    const second = await page.context().newPage()
    const asked: string[] = []
    second.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await second.goto(daemon.ready.control)
    await assertSignedOut(second)
    assert.ok(!asked.includes('/events') && !asked.includes('/state'), asked.join())

    // The address works for it too, and is put into the tab as it is.
    await second.evaluate(`location.href = ${JSON.stringify(await panelAddress(daemon))}`)
    await assertSignedIn(second, daemon.ready.control)
    await assertSignedIn(page, daemon.ready.control)
    assertCalm()
  })

  it('works where the browser keeps nothing for pages', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    await page.addInitScript(DENY)
    await page.goto(await panelAddress(daemon))
    await assertSignedIn(page, daemon.ready.control)
    await createPhone(await daemon.pair('Pixel'), daemon.ready.gateway).pushText('a text')
    await page.getByText('a text', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Hide preview' }).click()
    await page.getByText('The preview is hidden.').waitFor()
    assertCalm()
  })

  it('is in a new tab of one that is signed in, and needs no terminal for it', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    const opening = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'New tab' }).click()
    await assertSignedIn(await opening, daemon.ready.control)
    const other = await page.context().newPage()
    await other.goto(daemon.ready.control)
    await other.getByText('Choose “New tab” at its top').waitFor()
    assert.equal(await other.getByRole('link', { name: 'New tab' }).isVisible(), false)
    assertCalm()
  })

  it('works in more tabs than a browser has connections, whichever of them is closed', async (t) => {
    const { page, daemon, pairPhone } = await openPanel(t)
    const streams: string[] = []
    const context = page.context()
    context.on('request', (request) => {
      if (request.url().endsWith('/events')) streams.push(request.url())
    })
    const tabs = [page]
    for (let count = 2; count <= 8; count++) {
      const opening = page.waitForEvent('popup')
      await page.getByRole('link', { name: 'New tab' }).click()
      const tab = await opening
      await assertSignedIn(tab, daemon.ready.control)
      tabs.push(tab)
    }
    // That of the first tab may begin only now.
    assert.ok(streams.length <= 1, streams.join(' '))
    await pairPhone('Pixel')
    for (const tab of tabs) await deviceRow(tab, 'Pixel').waitFor()
    await page.close()
    await pairPhone('Tablet')
    for (const tab of tabs.slice(1)) await deviceRow(tab, 'Tablet').waitFor()
    await tabs[7]?.getByRole('button', { name: 'Sign out all browsers' }).click()
    await tabs[7]?.getByRole('button', { name: 'Sign out', exact: true }).click()
    for (const tab of tabs.slice(1)) await assertSignedOut(tab)
  })

  it('works as the command opens it', async (t) => {
    const folder = await temporaryFolder(t)
    const opener = join(folder, 'xdg-open')
    await writeFile(opener, '#!/bin/sh\nprintf %s "$1" > "$OPENED"\n', { mode: 0o755 })
    const opened = join(folder, 'opened')
    const PATH = `${folder}:${process.env['PATH']}`
    const env = { PATH, OPENED: opened, DISPLAY: ':1' }
    const daemon = await startDaemon(t, { folder, env })
    assert.match((await daemon.run('panel')).stdout, /opens in your browser/)
    const { page } = await openPage()
    await page.goto(pathToFileURL(await readFile(opened, 'utf8')).href)
    await assertSignedIn(page, daemon.ready.control)
  })

  it('works from a site, and in a window that a site opened', async (t) => {
    const daemon = await startDaemon(t)
    for (const target of ['_self', '_blank']) {
      const { page } = await openPage()
      const link = `<a target="${target}" href="${await panelAddress(daemon)}">panel</a>`
      await page.goto(await serveSite(t, link))
      const opened = target === '_blank' ? page.waitForEvent('popup') : page
      await page.getByRole('link').click()
      await assertSignedIn(await opened, daemon.ready.control)
    }
  })

  it('is asked for again when all browsers were signed out, and works then', async (t) => {
    const { page, daemon } = await openPanel(t)
    const other = await openPage()
    await enter(other.page, daemon)
    await page.getByRole('button', { name: 'Sign out all browsers' }).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    for (const one of [page, other.page]) await assertSignedOut(one)
    await enter(page, daemon)
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
  })
})

describe('other pages', needs('chromium'), () => {
  // The second one is of the same site: ports do not count there.
  for (const host of [ELSEWHERE, '127.0.0.1']) {
    it(`of ${host} can neither show the panel nor use it, also while somebody is signed in`, async (t) => {
      const { page, daemon } = await openPanel(t)
      const { control } = daemon.ready
      const paired = await daemon.pair('Pixel')
      await createPhone(paired, daemon.ready.gateway).pushFile('Image', 'dot.png', DOT)
      await page.getByRole('img', { name: 'Preview of the current image' }).waitFor()

      const foreign = await page.context().newPage()
      await foreign.goto(await serveSite(t, `<iframe src="${control}/"></iframe>`, host))
      const ask = (path: string, init: RequestInit) =>
        `fetch('${control}${path}', ${JSON.stringify({ credentials: 'include', ...init })})
          .then(() => 'answered', () => 'refused')`
      const load = (tag: string, path: string) =>
        `new Promise((resolve) => {
          const element = document.createElement('${tag}')
          element.addEventListener('load', () => resolve('answered'))
          element.addEventListener('error', () => resolve('refused'))
          element.src = '${control}${path}'
          document.body.append(element)
        })`
      // The page hears of no answer that another origin keeps from it; its browser does.
      const browser = await foreign.context().newCDPSession(foreign)
      const urls = new Map<string, string>()
      browser.on('Network.requestWillBeSent', ({ requestId, request }) => {
        urls.set(requestId, request.url)
      })
      const answers: { readonly requestId: string; readonly statusCode: number }[] = []
      browser.on('Network.responseReceivedExtraInfo', (answer) => answers.push(answer))
      await browser.send('Network.enable')
      const rotate = `/devices/${paired.id}/rotate`
      // What a page may not even know of is hidden from it; the status is what counts.
      const attempts = [
        [ask('/state', {}), 'refused'],
        [ask('/state', { mode: 'no-cors' }), 'refused'],
        [ask('/panel', { method: 'DELETE' }), 'refused'],
        [ask(rotate, { method: 'POST', mode: 'no-cors' }), 'refused'],
        [load('img', '/item/preview'), 'refused'],
        [load('script', '/state'), 'refused'],
      ] as const
      for (const [code, outcome] of attempts) {
        const asked = foreign.waitForRequest((request) => request.url().startsWith(control))
        assert.equal(await foreign.evaluate(code), outcome, code)
        await asked
      }
      const statuses = answers
        .filter(({ requestId }) => urls.get(requestId)?.startsWith(control))
        .map(({ statusCode }) => statusCode)
      assert.ok(statuses.length > 0, 'There was no answer')
      assert.deepEqual(
        statuses.filter((status) => status !== 401 && status !== 403),
        [],
      )
      const frame = foreign.frames().find((one) => one !== foreign.mainFrame())
      assert.equal(await frame?.getByText('Devices').count(), 0)
      await page.reload()
      await deviceRow(page, 'Pixel').waitFor()
      assert.equal((await createPhone(paired, daemon.ready.gateway).fetch('/Sync.json')).ok, true)
    })
  }
})
