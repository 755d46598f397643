import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { needs } from '../support/requirements.ts'
import { openPage } from './support/browser.ts'
import { deviceRow, enter, makeTicket, openPanel, startDaemon } from './support/panel.ts'

/** A site of somebody else, on this machine: another origin. */
async function serveSite(t: TestContext, html: string): Promise<string> {
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
  // Another site, and not only another origin: cookies that are strict stay away.
  return `http://localhost:${port}/`
}

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
  it('can neither show the panel nor use it, also while somebody is signed in', async (t) => {
    const { page, daemon } = await openPanel(t)
    const { control } = daemon.ready
    await daemon.pair('Pixel')
    await deviceRow(page, 'Pixel').waitFor()
    const site = await serveSite(t, `<iframe src="${control}/"></iframe>`)
    const foreign = await page.context().newPage()
    await foreign.goto(site)
    const results: unknown = await foreign.evaluate(
      `Promise.all(['GET', 'POST', 'DELETE'].map((method) =>
        fetch('${control}/' + { GET: 'state', POST: 'pause', DELETE: 'session' }[method], {
          method, credentials: 'include', body: method === 'POST' ? '{}' : undefined,
        }).then(() => 'answered', () => 'refused')))`,
    )
    assert.deepEqual(results, ['refused', 'refused', 'refused'])
    const frame = foreign.frames().find((one) => one !== foreign.mainFrame())
    assert.equal(await frame?.getByText('Devices').count(), 0)
    await page.reload()
    await deviceRow(page, 'Pixel').waitFor()
  })

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
