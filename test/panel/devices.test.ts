import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownerOf } from '../support/owner.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import {
  addDevice,
  closeDialog,
  deviceRow,
  holdRequests,
  isFocused,
  openPanel,
  phoneOf,
} from './support/panel.ts'
import { readQr } from './support/read-qr.ts'

const EVIL = '<img src=x onerror=alert(1)>"><script>alert(2)</script>'

describe('the devices in the panel', needs('chromium'), () => {
  it('appear when they are paired elsewhere, with when, where and as what they were seen, and their open event streams', async (t) => {
    const { page, daemon } = await openPanel(t)
    await page.getByText('No device yet').waitFor()
    const paired = await daemon.pair('Pixel')
    const phone = createPhone(paired, daemon.ready.gateway)
    const row = deviceRow(page, 'Pixel')
    await row.getByText(paired.username).waitFor()
    await row.getByText('never').waitFor()

    const headers = { 'user-agent': 'SyncClipboard/2.8.4 (Android)' }
    await phone.fetch('/Sync.json', { headers })
    await row.getByText('just now').waitFor()
    await row.getByText('127.0.0.1').waitFor()
    await row
      .getByTitle('SyncClipboard/2.8.4 (Android)')
      .filter({ hasText: 'SyncClipboard 2.8.4' })
      .waitFor()
    const seen = row.getByRole('time')
    await seen.focus()
    const at = new Date((await seen.getAttribute('datetime')) ?? '')
    await row.getByText(String(at.getFullYear())).waitFor()

    const away = new AbortController()
    const stream = await phone.fetch('/api/sse/clipboard', { signal: away.signal })
    assert.equal(stream.status, 200)
    await row.getByText('listening now').waitFor()
    away.abort()
    await row.locator('dd').filter({ hasText: /^0$/ }).waitFor()
  })

  it('get a new password, and the old one is dead at once', async (t) => {
    const { page, assertCalm, pairPhone } = await openPanel(t)
    const old = await pairPhone('Pixel')
    assert.equal((await old.fetch('/Sync.json')).ok, true)
    await deviceRow(page, 'Pixel').getByText('just now').waitFor()

    await page.getByRole('button', { name: 'New password for Pixel' }).click()
    const dialog = page.getByRole('dialog', { name: 'New password for Pixel?' })
    await dialog.getByText('stops working at once').waitFor()
    await dialog.getByRole('button', { name: 'Make new password' }).click()
    const code = page.getByRole('img', { name: /^QR code/ })
    const link = await readQr(code)
    assert.equal((await old.fetch('/Sync.json')).status, 401)
    await page.getByText('Waiting for the first request of Pixel').waitFor()
    assert.equal((await phoneOf(link).fetch('/Sync.json')).ok, true)
    await page.getByRole('dialog').getByText('Pixel is connected').waitFor()
    assertCalm()
  })

  it('show their new password also to those who cancel too late', async (t) => {
    const { page, daemon } = await openPanel(t)
    await daemon.pair('Pixel')
    const release = await holdRequests(page, '**/rotate')
    await page.getByRole('button', { name: 'New password for Pixel' }).click()
    const asked = page.waitForRequest((request) => request.url().endsWith('/rotate'))
    await page.getByRole('button', { name: 'Make new password' }).click()
    await asked
    await closeDialog(page)
    release()
    const code = page.getByRole('dialog').getByRole('img', { name: /^QR code/ })
    assert.equal((await phoneOf(await readQr(code)).fetch('/Sync.json')).ok, true)
  })

  it('go when they are removed, and not when that is cancelled', async (t) => {
    const { page, daemon, assertCalm, pairPhone } = await openPanel(t)
    const lost = await pairPhone('Lost')
    const kept = await pairPhone('Kept')
    const remove = page.getByRole('button', { name: 'Remove Lost' })
    await remove.click()
    await page.getByRole('dialog', { name: 'Remove Lost?' }).getByText('stops working').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('dialog').waitFor({ state: 'detached' })
    assert.equal((await lost.fetch('/Sync.json')).ok, true)

    await remove.click()
    await page.getByRole('button', { name: 'Remove device' }).click()
    await deviceRow(page, 'Lost').waitFor({ state: 'detached' })
    await page.locator('dialog').waitFor({ state: 'detached' })
    assert.equal((await lost.fetch('/Sync.json')).status, 401)
    assert.equal((await kept.fetch('/Sync.json')).ok, true)
    assert.equal(await deviceRow(page, 'Kept').count(), 1)
    const focused = page.getByRole('heading', { name: 'Devices' })
    assert.equal(await isFocused(focused), true)

    const happened = page.getByRole('region', { name: 'What happened' })
    await happened.getByText('Lost was removed in the panel').waitFor()
    await kept.pushText('<b>nothing of this</b>')
    await happened.getByText('Kept sent a text (22 bytes)').waitFor()
    await daemon.pair(EVIL)
    await happened.getByText(`${EVIL} was added with a command`).waitFor()
    assert.equal(await happened.getByRole('listitem').count(), 5)
    await happened.getByRole('button', { name: /^All \d+$/ }).click()
    await happened.getByText('Lost was added with a command').waitFor()
    assert.ok(!(await happened.textContent())?.includes('nothing of this'))
    assertCalm()
  })

  it('keep the focus where it is when others come and go, and near when the one that had it goes', async (t) => {
    const { page, daemon } = await openPanel(t)
    const one = await daemon.pair('One')
    const owner = await ownerOf(daemon)
    const button = page.getByRole('button', { name: 'New password for One' })
    await button.focus()
    const other = await daemon.pair('Another')
    await deviceRow(page, 'Another').waitFor()
    await owner.revoke(other.id)
    await deviceRow(page, 'Another').waitFor({ state: 'detached' })
    assert.equal(await isFocused(button), true)

    await page.getByRole('button', { name: 'Remove One' }).focus()
    await owner.revoke(one.id)
    await page.getByText('No device yet').waitFor()
    assert.equal(await isFocused(page.getByRole('heading', { name: 'Devices' })), true)
  })

  it('may be called like a page full of scripts, and none runs', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    const dialog = await addDevice(page, EVIL)
    await dialog.getByRole('heading', { name: `Connect ${EVIL}` }).waitFor()
    const phone = phoneOf(await readQr(dialog.getByRole('img', { name: /^QR code/ })))
    await phone.fetch('/Sync.json', { headers: { 'user-agent': EVIL } })
    await dialog.getByText(`${EVIL} is connected`).waitFor()
    await closeDialog(page)

    assert.equal(await deviceRow(page, EVIL).getByRole('heading').textContent(), EVIL)
    await page.getByRole('button', { name: `Remove ${EVIL}` }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await phone.pushText(EVIL)
    await page.locator('.preview pre').waitFor()
    assert.equal(await page.locator('.preview pre').textContent(), EVIL)
    await phone.pushFile('File', EVIL.replaceAll('/', '-'), Buffer.from('x'))
    await page.getByRole('heading', { name: EVIL.replaceAll('/', '-') }).waitFor()
    assert.equal(await page.locator('main img, script[src="x"], main script').count(), 0)
    assert.equal(daemon.child.exitCode, null)
    assertCalm()
  })

  it('says which address devices look for in vain', async (t) => {
    const { page, daemon } = await openPanel(t)
    await daemon.run('pair', '--url', 'http://10.254.253.252:42720')
    await page.getByRole('heading', { name: 'at an address that it lost' }).waitFor()
    await page.getByText('They were paired for http://10.254.253.252:42720.').waitFor()
  })
})
