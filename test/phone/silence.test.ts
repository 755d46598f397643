import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { INSECURE_HOST, openPage } from '../panel/support/browser.ts'
import { needs } from '../support/requirements.ts'
import { addressOf, openPhonePage, passUntil, sendText, uploadsOf } from './support/phone-page.ts'
import { digHole } from './support/wire.ts'

const AWAY = '[data-way=away]'
const LIVE = '[data-way=live]'

/** The page, in which time passes as the test says, and whose computer may vanish without a word. */
async function openDistantPage(t: TestContext, locale = 'en') {
  const opened = await openPhonePage(t, { locale })
  const { page, device, daemon } = opened
  const hole = await digHole(t, daemon.ready.gateway)
  await page.clock.install()
  await page.goto(addressOf(device, hole.url))
  await page.locator(LIVE).waitFor()
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1000)
  return { ...opened, hole }
}

/** Lets time pass in the page until it shows something. @returns How many seconds that took. */
async function secondsUntil(page: Page, selector: string): Promise<number> {
  for (let seconds = 0; seconds < 300; seconds += 1) {
    if ((await page.locator(selector).count()) > 0) return seconds
    await page.clock.runFor(1000)
  }
  throw new Error(`The page never shows ${selector}`)
}

describe('a phone page whose computer vanishes without a word', needs('chromium'), () => {
  it('says so within a minute, and is there again when the computer is', async (t) => {
    const { page, hole, other, assertCalm } = await openDistantPage(t)
    hole.open()
    const seconds = await secondsUntil(page, AWAY)
    t.diagnostic(`it took ${seconds} s`)
    await page.getByText('The computer does not answer').waitFor()
    // It looks again and again, and knows no better.
    for (let more = 0; more < 60; more += 1) await page.clock.runFor(1000)
    assert.equal(await page.locator(AWAY).count(), 1)
    hole.close()
    await secondsUntil(page, LIVE)
    await other.pushText('there again')
    await page.getByText('there again').waitFor()
    assertCalm()
  })

  it('says that it connects when it is looked at again, until an answer comes', async (t) => {
    const { page, hole, assertCalm } = await openDistantPage(t)
    const assertTrying = async () => {
      assert.equal(await page.locator('[data-way=trying]').count(), 1)
      assert.equal(await page.locator('.way').textContent(), 'Connecting')
    }
    for (const said of [
      // A Chromium without a window is never hidden, and so never says it.
      `document.dispatchEvent(new Event('visibilitychange'))`,
      `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`,
    ]) {
      hole.open()
      await page.evaluate(said)
      await assertTrying()
      hole.close()
      await page.locator(LIVE).waitFor()
    }
    hole.open()
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await assertTrying()
    await secondsUntil(page, AWAY)
    await page.getByRole('button', { name: 'Try again' }).tap()
    await assertTrying()
    await page.getByText('The computer does not answer').waitFor()
    assertCalm()
  })

  it('says what became of a text, keeps it, and sends it at the next tap', async (t) => {
    const words = {
      en: {
        send: 'Send',
        sending: 'Sending…',
        again: 'Try again',
        sent: 'Sent',
        not: 'Not sent yet',
      },
      'zh-CN': {
        send: '发送',
        sending: '正在发送…',
        again: '重试',
        sent: '已发送',
        not: '尚未发送',
      },
    }
    for (const [locale, { send, sending, again, sent, not }] of Object.entries(words)) {
      const { page, hole, other } = await openDistantPage(t, locale)
      const card = page.locator('section', { has: page.getByRole('textbox') })
      hole.open()
      await page.getByRole('textbox').fill('not lost')
      await card.getByRole('button', { name: send, exact: true }).tap()
      await card.getByText(sending).waitFor()
      await secondsUntil(page, AWAY)
      await card.getByRole('button', { name: again }).waitFor()
      assert.equal(await page.getByRole('textbox').inputValue(), 'not lost')
      assert.equal(await card.getByText(sending).count(), 0)
      hole.close()
      await secondsUntil(page, LIVE)
      assert.equal(await card.getByRole('status').first().textContent(), not)
      await card.getByRole('button', { name: again }).tap()
      await card.getByText(sent, { exact: true }).waitFor()
      await other.reads({ text: 'not lost' })
      await card.getByRole('button', { name: send, exact: true }).waitFor()
    }
  })

  it('is not taken for gone when it only takes a while', async (t) => {
    const { page, hole, other } = await openDistantPage(t)
    hole.open()
    await sendText(page, 'slowly')
    await page.getByText('Sending…').waitFor()
    await page.clock.runFor(7000)
    hole.close()
    await page.getByText('Sent', { exact: true }).waitFor()
    await other.reads({ text: 'slowly' })
    assert.equal(await page.locator(LIVE).count(), 1)
  })
})

describe('what is typed into the phone page', needs('chromium'), () => {
  it('is still there after the phone was removed and paired again, and nowhere else', async (t) => {
    const { page, daemon, device, other } = await openPhonePage(t)
    const field = page.getByRole('textbox')
    await field.fill('half a thought')
    await daemon.run('revoke', device.id)
    await page.getByText('This phone was disconnected').waitFor()
    assert.equal(await field.inputValue(), 'half a thought')
    assert.deepEqual(await page.evaluate('[localStorage.length, sessionStorage.length]'), [0, 0])
    await field.fill('a whole thought')
    const again = await daemon.pair('The same phone')
    await page.evaluate(`location.hash = '${addressOf(again, daemon.ready.gateway).split('#')[1]}'`)
    await page.locator(LIVE).waitFor()
    assert.equal(await field.inputValue(), 'a whole thought')
    await page.getByRole('button', { name: 'Send', exact: true }).tap()
    await other.reads({ text: 'a whole thought' })
  })

  it('is still there, as files are that were not sent, however often that happens', async (t) => {
    const { page, daemon, device } = await openPhonePage(t)
    await page.route('**/file/long.txt', (route) => route.fulfill({ status: 413 }))
    // Nobody answers for this one.
    await page.route('**/file/film.mp4', () => undefined)
    const send = (name: string): Promise<void> => {
      const file = { name, mimeType: '', buffer: Buffer.from('x') }
      return page.locator('input[type=file]').first().setInputFiles(file)
    }
    await send('long.txt')
    await uploadsOf(page).getByText('too large for the computer').waitFor()
    await send('film.mp4')
    await uploadsOf(page).last().getByText('0 bytes of').waitFor()
    let phone = device
    for (const name of ['one.txt', 'two.txt']) {
      await daemon.run('revoke', phone.id)
      await page.getByText('This phone was disconnected').waitFor()
      await uploadsOf(page).nth(0).getByText('too large for the computer').waitFor()
      await uploadsOf(page).nth(1).getByText('Not sent yet').waitFor()
      assert.equal(await uploadsOf(page).count(), 2)
      phone = await daemon.pair('The same phone')
      await page.evaluate(
        `location.hash = '${addressOf(phone, daemon.ready.gateway).split('#')[1]}'`,
      )
      await page.locator(LIVE).waitFor()
      await send(name)
      await uploadsOf(page).last().getByText('Sent', { exact: true }).waitFor()
    }
    for (const name of ['long.txt', 'film.mp4']) {
      await page.getByRole('button', { name: `Remove from the list: ${name}` }).tap()
    }
    assert.equal(await uploadsOf(page).count(), 1)
  })

  it('is still there as files are whose choice took longer than the account, and which nobody sends', async (t) => {
    const { page, daemon, device } = await openPhonePage(t)
    const choosing = page.waitForEvent('filechooser')
    await page.getByText('Photos, files').tap()
    const chooser = await choosing
    await daemon.run('revoke', device.id)
    await page.getByText('This phone was disconnected').waitFor()
    const again = await daemon.pair('Another phone')
    await page.evaluate(`location.hash = '${addressOf(again, daemon.ready.gateway).split('#')[1]}'`)
    await page.locator(LIVE).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.method()))
    await chooser.setFiles({ name: 'film.mp4', mimeType: '', buffer: Buffer.from('x') })
    await uploadsOf(page).getByText('Not sent yet').waitFor()
    await page.getByRole('button', { name: 'Remove from the list: film.mp4' }).tap()
    assert.equal(asked.includes('PUT'), false)
  })

  it('is still there as files are that were shared with the page, and not sent by then', async (t) => {
    const { daemon, device } = await openPhonePage(t)
    const { gateway } = daemon.ready
    const { page } = await openPage()
    t.after(() => page.context().close())
    // Browsers keep what is shared for addresses that they trust.
    await page.goto(addressOf(device, gateway).replace(INSECURE_HOST, '127.0.0.1'))
    await page.locator(LIVE).waitFor()
    await page.evaluate(`caches.open('clipgate-shared')
      .then((cache) => cache.put('/phone/share?name=shared.txt', new Response('x')))`)
    await page.reload()
    await page.getByRole('button', { name: 'Send what was shared (1)' }).waitFor()
    await daemon.run('revoke', device.id)
    await page.getByText('This phone was disconnected').waitFor()
    await uploadsOf(page).filter({ hasText: 'shared.txt' }).getByText('Not sent yet').waitFor()
  })

  it('is still there when the new code is opened in another tab', async (t) => {
    const { page, daemon, device } = await openPhonePage(t)
    await page.getByRole('textbox').fill('half a thought')
    await daemon.run('revoke', device.id)
    await page.getByText('This phone was disconnected').waitFor()
    const tab = await page.context().newPage()
    await tab.goto(addressOf(await daemon.pair('The same phone'), daemon.ready.gateway))
    await tab.locator(LIVE).waitFor()
    await page.locator(LIVE).waitFor()
    assert.equal(await page.getByRole('textbox').inputValue(), 'half a thought')
  })
})

describe('three windows with the phone page of one account', needs('chromium'), () => {
  it('are all told of changes, and take no stream from each other', async (t) => {
    const { page, address, other, assertCalm } = await openPhonePage(t)
    await page.clock.install()
    await page.reload()
    await page.locator(LIVE).waitFor()
    const streams: string[] = []
    page.on('request', (request) => request.url().includes('/sse/') && streams.push(request.url()))
    for (const nth of ['second', 'third']) {
      const looked = nth === 'third' && page.waitForRequest('**/Sync.json')
      const window = await page.context().newPage()
      await window.goto(address)
      await window.locator(LIVE).waitFor()
      await looked
    }
    for (const text of ['one', 'two']) {
      await other.pushText(text)
      await passUntil(page, page.getByText(text, { exact: true }).first().waitFor())
      await page.locator(LIVE).waitFor()
    }
    assert.deepEqual(streams, [])
    // Whoever looks at this one again hears at once.
    const opened = page.waitForRequest('**/sse/clipboard')
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await opened
    assertCalm()
  })
})
