import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { itemOf, openPanel } from '../panel/support/panel.ts'
import { readQr } from '../panel/support/read-qr.ts'
import { needs } from '../support/requirements.ts'
import { openPhonePage } from './support/phone-page.ts'

/** A text, where *Open* leads, and what it says. */
const ADDRESSES: readonly (readonly [string, string, string])[] = [
  ['https://example.org/timetable?from=north', 'https://example.org/timetable?from=north', ''],
  ['See (http://example.org:8080/a_(b)), please.', 'http://example.org:8080/a_(b)', ':8080'],
  ['见 https://example.org/路。谢谢', 'https://example.org/%E8%B7%AF', ''],
  ['HTTPS://EXAMPLE.ORG!', 'https://example.org/', ''],
  // Whoever is named before the @ is not who is asked.
  ['https://bank.example@example.org/', 'https://bank.example@example.org/', ''],
]

/** Texts without an address that is opened. */
const OTHERS = [
  'javascript:alert(1)//https:',
  'file:///etc/passwd',
  'https://',
  'xhttp://a.example',
]

/** What the browser asks for in other tabs, none of which is loaded. */
async function watchTabs(page: Page): Promise<string[]> {
  const asked: string[] = []
  await page.context().route('https://example.org/**', async (route) => {
    const { referer = 'nobody' } = await route.request().allHeaders()
    asked.push(`${route.request().url()} from ${referer}`)
    await route.fulfill({ contentType: 'text/html', body: `<title>a</title>` })
  })
  return asked
}

describe('a text on both pages', needs('chromium'), () => {
  it('with an address opens it at a tap, and never by itself', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const asked = await watchTabs(page)
    const open = page.getByRole('link', { name: 'Open example.org' })
    for (const [text, href, port] of ADDRESSES) {
      await other.pushText(text)
      await page.getByText(text, { exact: true }).waitFor()
      assert.equal(await open.getAttribute('href'), href)
      assert.equal(await open.textContent(), `Open example.org${port}`)
    }
    for (const text of OTHERS) {
      await other.pushText(text)
      await page.getByText(text, { exact: true }).waitFor()
      assert.equal(await open.count(), 0, text)
    }
    assert.deepEqual(asked, [])
    await other.pushText('Timetable: https://example.org/north')
    const opening = page.context().waitForEvent('page')
    await open.tap()
    const opened = await opening
    await opened.waitForLoadState()
    assert.equal(await opened.evaluate('window.opener'), null)
    assert.deepEqual(asked, ['https://example.org/north from nobody'])
    assertCalm()
  })

  it('has the host to be opened in one piece', async (t) => {
    const { page, other } = await openPhonePage(t, { viewport: { width: 390, height: 844 } })
    await other.pushText('https://wiki.example.org/timetable')
    await page.getByRole('link', { name: 'Open wiki.example.org' }).waitFor()
    const pieces = await page.evaluate(`{
      const [{ firstChild: words }] = document.querySelectorAll('a[href^="https://wiki."]')
      const host = document.createRange()
      host.setStart(words, 'Open '.length)
      host.setEnd(words, words.length)
      host.getClientRects().length
    }`)
    assert.equal(pieces, 1)
  })

  it('is shown as a code that another camera reads, unless it is too long for that', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const code = page.getByRole('img', { name: 'This text as a QR code' })
    for (const text of ['wifi: Küche, пароль 密码', 'x'.repeat(800)]) {
      await other.pushText(text)
      await page.getByText(text, { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Show as code' }).tap()
      assert.equal(await readQr(code), text)
      await page.getByRole('button', { name: 'Hide the code' }).tap()
      await code.waitFor({ state: 'hidden' })
    }
    await other.pushText('ü'.repeat(401))
    await page.getByText('ü'.repeat(401)).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Show as code' }).count(), 0)
    assertCalm()
  })

  it('is opened and shown as a code in the panel, too', async (t) => {
    const panel = await openPanel(t)
    const phone = await panel.pairPhone('Pixel')
    const asked = await watchTabs(panel.page)
    const item = itemOf(panel)
    const text = 'Platform 4: https://example.org/timetable.'
    await phone.pushText(text)
    await item.getByRole('button', { name: 'Show as code' }).click()
    assert.equal(await readQr(item.getByRole('img')), text)
    assert.deepEqual(asked, [])
    const opening = panel.page.context().waitForEvent('page')
    await item.getByRole('link', { name: 'Open example.org' }).click()
    await (await opening).waitForLoadState()
    assert.deepEqual(asked, ['https://example.org/timetable from nobody'])

    // What is hidden is neither opened nor shown, and half an address is none.
    await item.getByRole('button', { name: 'Hide preview' }).click()
    await item.getByText('The preview is hidden').waitFor()
    assert.equal(await item.getByRole('link').or(item.getByRole('img')).count(), 0)
    await item.getByRole('button', { name: 'Show preview' }).click()
    await phone.pushText(`${'x '.repeat(990)} https://example.org/${'y'.repeat(60)}`)
    await item.getByText('Only the beginning is shown').waitFor()
    assert.equal(await item.getByRole('link').count(), 0)
    await item.getByRole('button', { name: 'Show all of it' }).click()
    await item.getByRole('link', { name: 'Open example.org' }).waitFor()
    panel.assertCalm()
  })
})
