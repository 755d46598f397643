import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as ask, type ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { addressOf, openPhonePage } from './support/phone-page.ts'

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
  nothing: (response) => response.writeHead(204).end(),
  'half of it': asJson('{"type":"Text","te'),
  'very much': asJson(`{"recent":"${'x'.repeat(4_000_000)}"}`),
}

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
    await page.goto(addressOf(device, url))
    await page.locator('[data-way=live]').waitFor()
    for (const [what, answer] of Object.entries(STRANGE)) {
      at.answer = answer
      cut()
      // The document and the state, and both once more: it is asked again and again.
      for (let answers = 0; answers < 4; answers += 1) await answered()
      await page.locator('[data-way=away]').waitFor()
      await page.getByText('The computer does not answer').waitFor()
      at.answer = undefined
      await other.pushText(`after ${what}`)
      await page.locator('[data-way=live]').waitFor()
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
