import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../support/requirements.ts'
import { openPage } from './support/browser.ts'
import { openPanel } from './support/panel.ts'
import { readQr } from './support/read-qr.ts'
import { createShowroom } from './support/showroom.ts'

/** How many lines the longest address of IPv4 takes in an element, which has it afterwards. */
function linesOfLongest(element: unknown): number {
  const shown = Object(element)
  shown.textContent = 'http://255.255.255.255:65535'
  const { lineHeight } = shown.ownerDocument.defaultView.getComputedStyle(shown)
  return Math.round(shown.getBoundingClientRect().height / Number.parseFloat(lineHeight))
}

const NO_TRUST = { fingerprint: undefined, error: undefined }

describe('the daemon in the panel', needs('chromium'), () => {
  it('has addresses that phones can use, and never that of all', async (t) => {
    const args = ['--clipboard', 'none', '--listen', '0.0.0.0:0']
    const browser = { viewport: { width: 1280, height: 900 } }
    const { page, daemon, assertCalm } = await openPanel(t, { args, browser })
    const { stdout } = await daemon.run('pair', '--label', 'Pixel', '--json')
    const { url } = JSON.parse(stdout)
    const card = page.getByRole('region', { name: 'This computer' })
    const line = card.getByText(url, { exact: true })
    await line.waitFor()
    assert.equal(await line.evaluate(linesOfLongest), 1)
    assert.equal(await card.getByText('0.0.0.0').count(), 0)
    assertCalm()
  })

  it('shows the fingerprint that a phone shows before it trusts the authority', async (t) => {
    const args = ['--clipboard', 'none', '--tls', 'local', '--tls-listen', '127.0.0.1:0']
    const { page, daemon, assertCalm } = await openPanel(t, { args })
    const { tls } = JSON.parse((await daemon.run('status', '--json')).stdout)
    const card = page.getByRole('region', { name: 'This computer' })
    await card.getByText(tls.fingerprint, { exact: true }).waitFor()
    assertCalm()
  })

  it('tells what was sent and is not saved, and why', async (t) => {
    const room = await createShowroom()
    await room.open()
    t.after(() => room.close())
    const reason = '1 item (5 MiB) not saved yet: the disk fails (EIO)'
    room.told.status = { receivedError: reason }
    const { page, assertCalm } = await openPage()
    await page.goto(await room.address())
    const problem = page.getByRole('listitem').filter({ hasText: reason })
    await problem.getByText('Something that was sent is not in the received folder').waitFor()
    assertCalm()
  })

  it('offers addresses with HTTPS, and leads phones to trust it first', async (t) => {
    const room = await createShowroom()
    await room.open()
    t.after(() => room.close())
    const url = 'https://desk.local:42722'
    const fingerprint = Array.from({ length: 32 }, (_, byte) => `A${byte % 10}`).join(':')
    const error = 'Cannot use desk.pem: it is over'
    room.panel.secure = [{ url, via: '', kind: 'lan' }]
    room.told.status = {
      listeners: [{ name: 'tls', urls: ['https://0.0.0.0:42722'], error: undefined }],
      tls: { source: 'local', urls: [url], notBefore: '', notAfter: '', fingerprint, error },
    }
    const { page, assertCalm } = await openPage()
    await page.goto(await room.address())
    const card = page.getByRole('region', { name: 'This computer' })
    for (const text of [url, fingerprint, 'http://192.168.1.20:42720/phone/trust', error]) {
      await card.getByText(text, { exact: true }).waitFor()
    }

    await page.getByRole('button', { name: 'Add a device' }).click()
    const dialog = page.getByRole('dialog')
    const first = dialog.getByText('The phone has to trust this computer')
    assert.equal(await first.count(), 0)
    await dialog.getByLabel(url).check()
    await first.waitFor()
    await dialog.getByRole('button', { name: 'Show as code' }).click()
    const code = dialog.getByRole('img', { name: 'as a QR code' })
    assert.equal(await readQr(code), 'http://192.168.1.20:42720/phone/trust')
    await dialog.getByLabel('http://192.168.1.20:42720').check()
    assert.equal(await first.count(), 0)
    await dialog.getByLabel(url).check()
    await dialog.getByRole('button', { name: 'Show QR code' }).click()
    await dialog.getByText(url, { exact: true }).waitFor()

    // A certificate from files is trusted already.
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Close all the same' }).click()
    room.told.status = {
      tls: { source: 'files', urls: [url], notBefore: '', notAfter: '', ...NO_TRUST },
    }
    room.panel.change()
    await card.getByText(fingerprint).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add a device' }).click()
    await dialog.getByLabel(url).check()
    assert.equal(await first.count(), 0)
    assertCalm()
  })
})
