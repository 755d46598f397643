import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { restart } from '../panel/support/panel.ts'
import { needs } from '../support/requirements.ts'
import { openPhonePage } from './support/phone-page.ts'

describe('the phone page', needs('chromium'), () => {
  it('takes the credentials out of its address, and keeps them over a reload', async (t) => {
    const { page, address, assertCalm } = await openPhonePage(t)
    assert.equal(await page.evaluate('isSecureContext'), false)
    assert.equal(page.url(), address.split('#')[0])
    await page.reload()
    await page.locator('[data-way=live]').waitFor()
    assertCalm()
  })

  it('shows what others copy at once, and copies it', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    await page.getByText('Nothing there yet').waitFor()
    await other.pushText('first <b>line</b>\nsecond')
    await page.getByText('first <b>line</b>').waitFor()
    await page.getByRole('button', { name: 'Copy' }).tap()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const field = page.getByRole('textbox')
    await field.focus()
    await page.keyboard.press('Control+V')
    assert.equal(await field.inputValue(), 'first <b>line</b>\nsecond')
    assertCalm()
  })

  it('sends a text, and several files one after the other', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    await page.getByRole('textbox').fill('from the phone')
    await page.getByRole('button', { name: 'Send', exact: true }).tap()
    await page.getByText('Sent', { exact: true }).waitFor()
    await other.reads({ text: 'from the phone' })
    // Given as bytes: Chromium finds no file of such a name where the locale is that of no language.
    const files = [
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('the first') },
      { name: 'zwei ä.bin', mimeType: '', buffer: Buffer.alloc(3_000_000, 'x') },
    ]
    await page.locator('input[type=file]').first().setInputFiles(files)
    await other.reads({ dataName: 'zwei ä.bin' })
    assert.deepEqual(await other.download(), files[1]?.buffer)
    await page.getByRole('listitem').nth(1).getByText('Sent').waitFor()
    assertCalm()
  })

  it('shows a picture, and lets the browser save the bytes of any item by itself', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const png = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
    await other.pushFile('Image', 'shot.png', png)
    await page.getByRole('img', { name: 'The image on the clipboard' }).waitFor()
    const started = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Save' }).tap()
    const download = await started
    assert.equal(download.suggestedFilename(), 'shot.png')
    assert.deepEqual(await readFile(await download.path()), png)
    assertCalm()
  })

  it('says so within a moment when it was removed, and keeps nothing of it', async (t) => {
    const { page, daemon, device, other } = await openPhonePage(t)
    await other.pushText('secret')
    await page.getByText('secret').waitFor()
    await daemon.run('revoke', device.id)
    await page.getByText('This phone was removed').waitFor()
    assert.equal(await page.getByText('secret').count(), 0)
    assert.equal(await page.evaluate('localStorage.length'), 0)
  })

  it('says that the daemon is away, and gets well by itself', async (t) => {
    const { page, daemon, other } = await openPhonePage(t)
    await other.pushText('before')
    await page.getByText('before').waitFor()
    await daemon.stop()
    await page.locator('[data-way=away]').waitFor()
    await page.getByText('The computer does not answer').waitFor()
    await restart(t, daemon)
    await page.locator('[data-way=live]').waitFor()
    await page.getByText('before').waitFor()
  })

  it('knows at once that its own network is gone', async (t) => {
    const { page, other } = await openPhonePage(t)
    await page.context().setOffline(true)
    await page.locator('[data-way=away]').waitFor()
    await other.pushText('meanwhile')
    await page.context().setOffline(false)
    await page.getByText('meanwhile').waitFor()
  })

  it('forgets this phone after two taps', async (t) => {
    const { page } = await openPhonePage(t)
    await page.getByRole('button', { name: 'Forget this phone' }).tap()
    await page.getByRole('button', { name: 'Tap again' }).tap()
    await page.getByText('This phone is forgotten').waitFor()
    assert.equal(await page.evaluate('localStorage.length'), 0)
    await page.reload()
    await page.getByText('Scan the code again').waitFor()
  })

  it('speaks Chinese to those who do', async (t) => {
    const { page } = await openPhonePage(t, { locale: 'zh-CN' })
    await page.getByText('还没有内容').waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
  })
})
