import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { needs } from '../support/requirements.ts'
import {
  addDevice,
  closeDialog,
  deviceRow,
  holdRequests,
  isFocused,
  openPanel,
  parseCode,
  phoneOf,
} from './support/panel.ts'
import { readQr } from './support/read-qr.ts'

describe('adding a device in the panel', needs('chromium'), () => {
  for (const [look, browser] of [
    ['light', { colorScheme: 'light' }],
    ['dark, on a small screen', { colorScheme: 'dark', viewport: { width: 320, height: 640 } }],
  ] as const) {
    it(`shows a code that a phone can scan, and turns green at its first request (${look})`, async (t) => {
      const { page, daemon, assertCalm } = await openPanel(t, { browser })
      const dialog = await addDevice(page, 'Pixel')
      await dialog.getByText('Waiting for the first request of Pixel').waitFor()

      const link = await readQr(dialog.getByRole('img', { name: /^QR code/ }))
      assert.equal(parseCode(link).url, daemon.ready.gateway)
      assert.equal(await dialog.getByText('Pixel is connected').count(), 0)
      const response = await phoneOf(link).fetch('/Sync.json', {
        headers: { 'user-agent': 'SyncClipboard/2.8.4 (Android)' },
      })
      assert.notEqual(response.status, 401)

      await dialog.getByText('Pixel is connected').waitFor()
      await dialog.getByText('SyncClipboard 2.8.4 asked from 127.0.0.1.').waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await deviceRow(page, 'Pixel').getByText('just now').waitFor()
      assertCalm()
    })
  }

  it('says that a login was refused, until one is not', async (t) => {
    const { page, assertCalm } = await openPanel(t)
    const dialog = await addDevice(page, 'Pixel')
    const link = await readQr(dialog.getByRole('img', { name: /^QR code/ }))
    const { user, url } = parseCode(link)
    const authorization = `Basic ${btoa(`${user}:mistyped`)}`
    assert.equal((await fetch(`${url}/Sync.json`, { headers: { authorization } })).status, 401)
    const refused = dialog.getByText(
      `A login as ${user} was refused (from 127.0.0.1): the password.`,
    )
    await refused.waitFor()
    assert.notEqual((await phoneOf(link).fetch('/Sync.json')).status, 401)
    await dialog.getByText('Pixel is connected').waitFor()
    assert.equal(await refused.count(), 0)
    assertCalm()
  })

  it('shows the code of the page first, and that of the link one click away', async (t) => {
    const { page } = await openPanel(t)
    const dialog = await addDevice(page, 'Pixel')
    const code = () => readQr(dialog.getByRole('img', { name: /^QR code/ }))
    const first = await code()
    assert.match(first, /^http:[^#]+\/phone#\w+:[\w-]+$/)
    await dialog.getByText('Scan it with the camera').waitFor()
    await dialog.getByRole('button', { name: 'Show the code for an app' }).click()
    await dialog.getByText('Scan it inside the app').waitFor()
    const second = await code()
    assert.match(second, /^clip:/)
    assert.deepEqual(parseCode(second), parseCode(first))
    await dialog.getByRole('button', { name: 'Show the code for the camera' }).click()
    assert.equal(await code(), first)
  })

  it('shows the code of the link alone where there is no page', async (t) => {
    const args = ['--clipboard', 'none', '--phone-page', 'off']
    const { page } = await openPanel(t, { args })
    const dialog = await addDevice(page, 'Pixel')
    assert.match(await readQr(dialog.getByRole('img', { name: /^QR code/ })), /^clip:/)
    assert.equal(await dialog.getByRole('button', { name: /^Show the code/ }).count(), 0)
  })

  it('shows credentials for other apps, the password only when asked, and forgets it at the end', async (t) => {
    const { page } = await openPanel(t)
    const dialog = await addDevice(page, 'Pixel')
    const { user, pwd } = parseCode(await readQr(dialog.getByRole('img')))
    await dialog.getByText(user, { exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(pwd), 'The password shows')
    await dialog.getByRole('button', { name: 'Show password' }).click()
    await dialog.getByText(pwd, { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Hide password' }).click()
    assert.ok(!(await page.content()).includes(pwd), 'The password still shows')
    await dialog.getByRole('button', { name: 'Show password' }).click()
    assert.ok((await page.content()).includes(pwd), 'The password does not show')
    await closeDialog(page)
    const content = await page.content()
    assert.ok(content.includes(user), 'The device is not listed')
    assert.ok(!content.includes(pwd), 'The password is still there')
    assert.equal(await page.getByRole('img', { name: /^QR code/ }).count(), 0)
  })

  it('says what to check when the phone does not come', async (t) => {
    const { page, daemon } = await openPanel(t)
    await page.clock.install()
    // What the page has begun to wait for already passes by the real clock.
    await page.reload()
    const dialog = await addDevice(page, 'Pixel')
    assert.equal(await dialog.getByText('Check these').isVisible(), false)
    await page.clock.fastForward(31_000)
    await dialog.getByText('Check these').waitFor()
    await dialog.getByText(`${daemon.ready.gateway}/phone`).waitFor()
  })

  it('asks before a code is gone that no phone has used', async (t) => {
    const { page } = await openPanel(t)
    const dialog = await addDevice(page, 'Pixel')
    const question = dialog.getByText('Pixel has not connected yet')
    for (const close of ['Escape', 'Done']) {
      if (close === 'Escape') await page.keyboard.press(close)
      else await dialog.getByRole('button', { name: close }).click()
      await question.waitFor()
      await dialog.getByRole('button', { name: 'Keep it open' }).click()
      assert.equal(await question.count(), 0)
    }
    const code = await readQr(dialog.getByRole('img', { name: /^QR code/ }))
    assert.equal((await phoneOf(code).fetch('/Sync.json')).ok, true)
    await dialog.getByText('Pixel is connected').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('needs no mouse', async (t) => {
    const { page } = await openPanel(t)
    const add = page.getByRole('button', { name: 'Add a device' })
    while (!(await isFocused(add))) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Keyboard phone')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Connect Keyboard phone' })
    const code = await readQr(dialog.getByRole('img', { name: /^QR code/ }))
    assert.equal((await phoneOf(code).fetch('/Sync.json')).ok, true)
    await dialog.getByText('Keyboard phone is connected').waitFor()
    const forApps = dialog.getByRole('button', { name: 'Show the code for an app' })
    await page.keyboard.press('Tab')
    assert.equal(await isFocused(forApps), true)
    const reveal = dialog.getByRole('button', { name: 'Show password' })
    await page.keyboard.press('Tab')
    assert.equal(await isFocused(reveal), true)
    await closeDialog(page)
    assert.equal(await isFocused(add), true)
  })

  it('tells what is wrong with a name, and adds nothing, nor when it is cancelled while the daemon is at it', async (t) => {
    const { page, daemon } = await openPanel(t)
    await page.getByRole('button', { name: 'Add a device' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('bell \u0007')
    await dialog.getByRole('button', { name: 'Show QR code' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'label' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('No device yet').waitFor()

    const release = await holdRequests(page, '**/devices')
    await page.getByRole('button', { name: 'Add a device' }).click()
    const asked = page.waitForRequest((request) => request.method() === 'POST')
    await page.keyboard.press('Enter')
    await asked
    await closeDialog(page)
    const removed = page.waitForResponse((response) => response.request().method() === 'DELETE')
    release()
    assert.equal((await removed).status(), 200)
    assert.equal((await daemon.run('devices', '--json')).stdout.trim(), '[]')
  })
})
