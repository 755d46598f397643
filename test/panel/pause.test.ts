import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { connect } from '../../src/client/connect.ts'

import { xclipCopy } from '../desktop/x11/support/xclip.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import { addDevice, deviceRow, isFocused, openPanel, parseCode, phoneOf } from './support/panel.ts'
import { readQr } from './support/read-qr.ts'

const COPYING = { permissions: ['clipboard-read', 'clipboard-write'] }

async function openDesktop(t: TestContext, browser: BrowserContextOptions = {}) {
  const xvfb = await Xvfb.start(t)
  const panel = await openPanel(t, { args: [], env: { DISPLAY: xvfb.display }, browser })
  return { ...panel, display: xvfb.display }
}

/** Every text that a device hears of, up to `last`. */
async function collectTexts(link: string, last: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const { text } of connect(link).watch()) {
    texts.push(text)
    if (text === last) break
  }
  return texts
}

describe('pausing in the panel', needs('chromium', 'Xvfb', 'xclip'), () => {
  it('keeps what is copied here from the devices until somebody resumes', async (t) => {
    const { page, daemon, display, assertCalm } = await openDesktop(t)
    const texts = collectTexts((await daemon.pair('Pixel')).link, 'after')
    await deviceRow(page, 'Pixel').getByText('listening now').waitFor()
    const item = page.getByRole('region', { name: 'Current item' })
    await xclipCopy(t, display, 'before', 'UTF8_STRING')
    await item.getByText('before', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Pause until I resume' }).click()
    const resume = page.getByRole('button', { name: 'Resume now' })
    await resume.waitFor()
    await page.getByText('Paused', { exact: true }).waitFor()
    await page.getByText('Paused until you resume.').waitFor()
    await xclipCopy(t, display, 'a secret', 'UTF8_STRING')
    await resume.click()
    await page.getByText('Connected', { exact: true }).waitFor()
    await xclipCopy(t, display, 'after', 'UTF8_STRING')
    await item.getByText('after', { exact: true }).waitFor()
    assert.deepEqual(await texts, ['before', 'after'])
    assertCalm()
  })

  it('counts down, and keeps the focus near', async (t) => {
    const { page } = await openDesktop(t)
    const button = page.getByRole('button', { name: 'Pause for 10 min' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByText(/Paused until \d\d:\d\d/).waitFor()
    await page.getByText('10 minutes left').waitFor()
    assert.equal(await isFocused(page.getByText(/Paused until \d\d:\d\d/)), true)
  })

  it('ends by itself', async (t) => {
    const { page, daemon } = await openDesktop(t)
    const states = page.waitForResponse((response) => response.url().endsWith('/pause'))
    await page.getByRole('button', { name: 'Pause for 10 min' }).click()
    assert.equal((await states).status(), 200)
    await page.getByText('Paused', { exact: true }).waitFor()
    // As the button does, but shorter.
    const status: unknown = await page.evaluate(`fetch('/pause', {
      method: 'POST',
      headers: { Authorization: 'Bearer ' + sessionStorage.getItem('clipgate.token') },
      body: '{"durationMs":1}',
    }).then(({ status }) => status)`)
    assert.equal(status, 200, daemon.stderr())
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause for 10 min' }).waitFor()
  })

  it('comes before a link with a password gets on the clipboard', async (t) => {
    const { page } = await openDesktop(t, COPYING)
    const dialog = await addDevice(page, 'Pixel')
    const code = await readQr(dialog.getByRole('img', { name: /^QR code/ }))
    await dialog.getByText('sharing pauses for a minute first').waitFor()
    await dialog.getByRole('button', { name: 'Copy link' }).click()
    await dialog.getByText('Copied. Sharing is paused for a minute.').waitFor()
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.deepEqual(parseCode(link), parseCode(code))
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText(/Paused until \d\d:\d\d/).waitFor()
  })

  it('has to work before a link is copied', async (t) => {
    const { page } = await openDesktop(t, COPYING)
    const dialog = await addDevice(page, 'Pixel')
    await page.evaluate('navigator.clipboard.writeText("harmless")')
    const full = {
      status: 507,
      contentType: 'application/problem+json',
      body: '{"title":"No space"}',
    }
    await page.route('**/pause', (route) => route.fulfill(full))
    await dialog.getByRole('button', { name: 'Copy link' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'No space' }).waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'harmless')
  })

  it('leaves a longer pause alone when a link is copied', async (t) => {
    const { page } = await openDesktop(t, COPYING)
    await page.getByRole('button', { name: 'Pause until I resume' }).click()
    await page.getByText('Paused until you resume.').waitFor()
    const dialog = await addDevice(page, 'Pixel')
    await dialog.getByRole('button', { name: 'Copy link' }).click()
    await dialog.getByText('Copied.', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Paused until you resume.').waitFor()
  })

  it('selects the link where the browser does not let a page copy', async (t) => {
    const { page } = await openPanel(t)
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.reload()
    const dialog = await addDevice(page, 'Pixel')
    await dialog.getByRole('button', { name: 'Copy link' }).click()
    const field = dialog.getByRole('textbox', { name: 'Connect link' })
    const link = await field.inputValue()
    assert.equal((await phoneOf(link).fetch('/Sync.json')).ok, true)
    assert.equal(await page.evaluate('getSelection().toString()'), link)
    assert.ok(parseCode(link).pwd.length > 0, 'There is no password')
  })
})
