import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as ask, type ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import type { Request } from 'playwright-core'
import { defer } from '../support/defer.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { addressOf, openPhonePage, passUntil } from './support/phone-page.ts'
import { layWire } from './support/wire.ts'

type Answer = (response: ServerResponse) => void

const html = '<!doctype html><title>Free Wi-Fi</title>'.repeat(2000)

const as =
  (type: string, body: string, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'Content-Type': type }).end(body)

const asJson = (body: string) => as('application/json', body)

/** What others answer who hold the address for a while, such as a hotel. */
const STRANGE: Readonly<Record<string, Answer>> = {
  'an empty object': asJson('{}'),
  'a page': as('text/html', html),
  'a list': asJson('[]'),
  null: asJson('null'),
  'a number': asJson('7'),
  'a text that is not one': asJson('{"type":"Text","text":7,"hasData":false,"hash":"a"}'),
  'a state without its list': asJson('{"paused":false,"hash":"","recent":null}'),
  'a list of nothing': asJson('{"paused":false,"hash":"","recent":[null]}'),
  'a login of its own': as('text/html', html, 401),
  'no way there': as('text/plain', '404 page not found', 404),
  nothing: (response) => response.writeHead(204).end(),
  'half of it': asJson('{"type":"Text","te'),
  'very much': asJson(`{"recent":"${'x'.repeat(4_000_000)}"}`),
}

/** Notes each text that is shown as the current item. */
const NOTE_SHOWN = `{
  globalThis.shown = []
  new MutationObserver(() => {
    const text = document.querySelector('.item pre')?.textContent
    if (text && text !== shown.at(-1)) shown.push(text)
  }).observe(document, { childList: true, subtree: true })
}`

/** Stands before the daemon, and may answer in its place. */
async function standBefore(t: TestContext, gateway: string) {
  const { hostname, port } = new URL(gateway)
  const at: { answer?: Answer | undefined } = {}
  const server = createServer((request, response) => {
    const { method, url: path, rawHeaders: headers } = request
    if (at.answer !== undefined) {
      at.answer(response)
      server.emit('answered')
      return
    }
    const onward = ask({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      response.flushHeaders()
      answer.on('error', () => response.destroy()).pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  return {
    ...{ url, at },
    cut: () => server.closeAllConnections(),
    answered: () => once(server, 'answered'),
  }
}

describe('a phone page that somebody else answers', needs('chromium'), () => {
  it('says that the computer is not reached, and follows again when it is', async (t) => {
    const { page, daemon, device, other, assertCalm } = await openPhonePage(t)
    const { url, at, cut, answered } = await standBefore(t, daemon.ready.gateway)
    await page.clock.install()
    await page.goto(addressOf(device, url))
    await page.locator('[data-way=live]').waitFor()
    for (const [what, answer] of Object.entries(STRANGE)) {
      at.answer = answer
      cut()
      // The document and the state, and both once more: it is asked again and again.
      for (let answers = 0; answers < 4; answers += 1) await passUntil(page, answered())
      await page.locator('[data-way=away]').waitFor()
      await page.getByText('The computer does not answer').waitFor()
      at.answer = undefined
      await other.pushText(`after ${what}`)
      await passUntil(page, page.locator('[data-way=live]').waitFor())
      await page.getByText(`after ${what}`, { exact: true }).first().waitFor()
    }
    assertCalm()
  })

  it('does not take a text for sent that the computer has not got', async (t) => {
    const { page, daemon, device, other } = await openPhonePage(t)
    const { url, at } = await standBefore(t, daemon.ready.gateway)
    await page.goto(addressOf(device, url))
    await page.locator('[data-way=live]').waitFor()
    const card = page.locator('section', { has: page.getByRole('textbox') })
    await page.getByRole('textbox').fill('not lost')
    for (const answer of Object.values(STRANGE)) {
      at.answer = answer
      await card.locator('button.main').tap()
      await card.getByText('The computer does not answer').waitFor()
      assert.equal(await page.getByRole('textbox').inputValue(), 'not lost')
    }
    at.answer = undefined
    await card.getByRole('button', { name: 'Try again' }).tap()
    await card.getByText('Sent', { exact: true }).waitFor()
    await other.reads({ text: 'not lost' })
  })
})

describe('a phone page that is answered late', needs('chromium'), () => {
  it('does not take a computer for away where a file was replaced at once', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const ways = `{
      globalThis.ways = []
      const { dataset } = document.documentElement
      new MutationObserver(() => ways.push(dataset.way))
        .observe(document.documentElement, { attributes: true, attributeFilter: ['data-way'] })
    }`
    await page.evaluate(ways)
    await page.route('**/phone/tickets', async (route) => {
      await other.pushText('newer')
      await route.continue()
    })
    await other.pushFile('File', 'a.bin', Buffer.from('a file'))
    await page.getByText('newer', { exact: true }).first().waitFor()
    await page.locator('[data-way=live]').waitFor()
    assert.ok(!(await page.evaluate<string[]>('ways')).includes('away'))
    assertCalm()
  })

  it('shows nothing that is older than what it shows, and follows once', async (t) => {
    const { page, daemon, device, other, assertCalm } = await openPhonePage(t)
    const { url, guard } = await layWire(t, daemon.ready.gateway)
    await page.goto('about:blank')
    await other.pushText('older')
    const [asked, late] = [defer<void>(), defer<void>()]
    t.after(() => late.resolve())
    const streams: string[] = []
    guard.ask = async (line) => line.includes('/sse/') && streams.push(line)
    guard.answer = (line) => {
      if (line !== 'GET /Sync.json') return undefined
      delete guard.answer
      asked.resolve()
      return late.promise
    }
    const isFirst = (request: Request) => request.url().endsWith('/Sync.json')
    const first = page.waitForEvent('request', isFirst)
    await page.goto(addressOf(device, url))
    await asked.promise
    const held = await first
    const isHeld = (request: Request) => request === held
    const over = Promise.race([
      page.waitForEvent('requestfinished', isHeld),
      page.waitForEvent('requestfailed', isHeld),
    ])
    await page.evaluate(NOTE_SHOWN)
    await other.pushText('newer')
    // The phone has another network.
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.getByText('newer', { exact: true }).waitFor()
    await page.locator('[data-way=live]').waitFor()
    late.resolve()
    await over
    await other.pushText('newest')
    await page.getByText('newest', { exact: true }).waitFor()
    assert.deepEqual(await page.evaluate('shown'), ['newer', 'newest'])
    assert.equal(streams.length, 1)
    assertCalm()
  })
})
