import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { temporaryFolder } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { openPage } from './support/browser.ts'
import { deviceRow, enter, makeTicket, openPanel, startDaemon } from './support/panel.ts'

/** Another site than `127.0.0.1`, as far as cookies are concerned. */
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

async function assertSignedIn(page: Page, control: string): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor()
  assert.equal(page.url(), `${control}/`)
  const entries: unknown = await page.evaluate('performance.getEntries().map(({ name }) => name)')
  assert.doesNotMatch(JSON.stringify(entries), /ticket/)
  assert.equal(await page.evaluate('document.cookie'), '')
}

describe('entering the panel', needs('chromium'), () => {
  it('leaves no ticket in the address or in the history', async (t) => {
    const daemon = await startDaemon(t)
    const { page, assertCalm } = await openPage()
    const ticket = await makeTicket(daemon)
    await page.goto(ticket)
    await assertSignedIn(page, daemon.ready.control)
    const session = await page.context().newCDPSession(page)
    const { entries } = await session.send('Page.getNavigationHistory')
    assert.deepEqual(entries.filter(({ url }) => url.includes('ticket')), [])
    const cookies = await page.context().cookies()
    assert.deepEqual(
      cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite]),
      [[true, 'Strict']],
    )
    assertCalm()
  })

  it('works once for each ticket', async (t) => {
    const daemon = await startDaemon(t)
    const ticket = await makeTicket(daemon)
    const first = await openPage()
    await first.page.goto(ticket)
    await assertSignedIn(first.page, daemon.ready.control)
    const second = await openPage()
    await second.page.goto(ticket)
    await second.page.getByText('clipgate panel', { exact: true }).waitFor()
    assert.equal(second.page.url(), `${daemon.ready.control}/`)
    assert.equal(await second.page.getByRole('button', { name: 'Add a device' }).isVisible(), false)
  })

  it('works from a local page that a program opened', async (t) => {
    const daemon = await startDaemon(t)
    const { page } = await openPage()
    const path = join(daemon.folder, 'start.html')
    await writeFile(path, `<a href="${await makeTicket(daemon)}">panel</a>`)
    await page.goto(pathToFileURL(path).href)
    await page.getByRole('link').click()
    await assertSignedIn(page, daemon.ready.control)
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
      const link = `<a target="${target}" href="${await makeTicket(daemon)}">panel</a>`
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
    for (const one of [page, other.page]) await one.getByText('clipgate panel', { exact: true }).waitFor()
    await enter(page, daemon)
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
  })
})

describe('other pages', needs('chromium'), () => {
  // The second one is of the same site, so that it has the cookie: ports do not count there.
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
      const statuses: number[] = []
      foreign.on('response', (response) => {
        if (response.url().startsWith(control)) statuses.push(response.status())
      })
      const rotate = `/devices/${paired.id}/rotate`
      // What a page may not even know of is hidden from it; the status is what counts.
      const attempts = [
        [ask('/state', {}), 'refused'],
        [ask('/state', { mode: 'no-cors' }), 'answered'],
        [ask('/session', { method: 'DELETE' }), 'refused'],
        [ask(rotate, { method: 'POST', mode: 'no-cors' }), 'answered'],
        [load('img', '/item/preview'), 'refused'],
        [load('script', '/state'), 'refused'],
      ] as const
      for (const [code, outcome] of attempts) {
        const asked = foreign.waitForRequest((request) => request.url().startsWith(control))
        assert.equal(await foreign.evaluate(code), outcome, code)
        await asked
      }
      assert.ok(statuses.length > 0, 'There was no answer')
      assert.deepEqual(statuses.filter((status) => status !== 403), [])
      const frame = foreign.frames().find((one) => one !== foreign.mainFrame())
      assert.equal(await frame?.getByText('Devices').count(), 0)
      await page.reload()
      await deviceRow(page, 'Pixel').waitFor()
      assert.equal((await createPhone(paired, daemon.ready.gateway).fetch('/Sync.json')).ok, true)
    })
  }

  it('are refused by their name and by their origin', async (t) => {
    const { page, daemon } = await openPanel(t)
    const [cookie] = await page.context().cookies()
    const own = new URL(daemon.ready.control).host
    const ask = async (method: string, path: string, headers: Record<string, string>) => {
      const session = { cookie: `${cookie?.name}=${cookie?.value}`, ...headers }
      const outgoing = request(`${daemon.ready.control}${path}`, { method, headers: session })
      outgoing.end(method === 'POST' ? '{"durationMs":1000}' : undefined)
      const [response] = await once(outgoing, 'response')
      response.resume()
      return Number(response.statusCode)
    }
    const type = { 'content-type': 'application/json' }
    assert.equal(await ask('GET', '/state', { host: own }), 200)
    for (const path of ['/state', '/events', '/item/preview', '/', '/panel.js', '/enter?ticket=x']) {
      assert.equal(await ask('GET', path, { host: 'evil.example' }), 403, path)
      assert.equal(await ask('GET', path, { host: own, origin: 'http://evil.example' }), 403, path)
    }
    for (const origin of ['http://evil.example', 'null', 'http://localhost:1']) {
      assert.equal(await ask('POST', '/pause', { host: own, origin, ...type }), 403, origin)
      assert.equal(await ask('DELETE', '/session', { host: own, origin }), 403, origin)
    }
  })
})
