import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { openPhonePage } from './support/phone-page.ts'

const IS_ACTIVE = `navigator.serviceWorker.getRegistrations()
  .then(([one]) => one?.active?.state === 'activated')`

describe('the phone page at an address that the browser trusts', needs('chromium'), () => {
  it('can be installed, and shares are sent when a person says so', async (t) => {
    const { page, daemon, other, address } = await openPhonePage(t, { serviceWorkers: 'allow' })
    assert.equal(await page.locator('link[rel=manifest]').count(), 0)
    const trusted = address.replace(/^http:[/][/][^:]+/, 'http://127.0.0.1')
    await page.goto(trusted)
    await page.locator('[data-way=live]').waitFor()
    assert.equal(await page.locator('link[rel=manifest]').count(), 1)
    while (!(await page.evaluate(IS_ACTIVE)));
    await other.pushText('before')

    // As the share sheet does it; but so could a page of another site.
    await page.goto('about:blank')
    await page.setContent(`<form method=post enctype=multipart/form-data
      action='${daemon.ready.gateway}/phone/share'><input name=text value='a shared text'>
      <input type=file name=files multiple></form>`)
    const buffer = Buffer.from('a shared file')
    const shared = { name: 'shared.txt', mimeType: 'text/plain', buffer }
    await page.locator('input[type=file]').setInputFiles([shared])
    await page.evaluate('document.forms[0].submit()')
    await page.locator('[data-way=live]').waitFor()
    assert.equal(page.url(), `${daemon.ready.gateway}/phone`)
    const send = page.getByRole('button', { name: 'Send what was shared (1)' })
    await send.waitFor()
    assert.equal(await page.getByRole('textbox').inputValue(), 'a shared text')
    assert.equal((await other.document())['text'], 'before')
    assert.deepEqual(await page.evaluate('caches.keys()'), [])
    await send.tap()
    await other.reads({ dataName: 'shared.txt' })
    assert.deepEqual(await other.download(), buffer)

    await page.getByRole('button', { name: 'Sign out on this phone' }).tap()
    await page.getByRole('button', { name: 'Tap again' }).tap()
    await page.getByText('Nothing is left in this browser').waitFor()
    while (await page.evaluate(IS_ACTIVE));
  })

  it('copies pictures, and pastes with one tap', async (t) => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const { page, other, address } = await openPhonePage(t, { permissions })
    assert.equal(await page.getByRole('button', { name: 'Paste' }).count(), 0)
    await page.goto(address.replace(/^http:[/][/][^:]+/, 'http://127.0.0.1'))
    const png = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
    await other.pushFile('Image', 'shot.png', png)
    await page.getByRole('button', { name: 'Copy image' }).tap()
    await page.getByText('Copied').waitFor()
    await page.getByRole('button', { name: 'Paste' }).tap()
    await other.reads({ dataName: 'image.png' })
    await page.evaluate(`navigator.clipboard.writeText('one tap')`)
    await page.getByRole('button', { name: 'Paste' }).tap()
    while ((await page.getByRole('textbox').inputValue()) !== 'one tap');
  })
})

describe('a page of another site', needs('chromium'), () => {
  // Protocol: Pages of other sites can neither frame it nor read it
  it('can neither frame the page nor read from it', async (t) => {
    const { page, daemon } = await openPhonePage(t)
    const { gateway } = daemon.ready
    const html = `<iframe src='${gateway}/phone'></iframe>`
    const evil = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end(html)
    })
    await page.goto(`http://127.0.0.1:${await listen(t, evil)}/`)
    const [, frame] = page.frames()
    assert.equal(frame?.url(), 'chrome-error://chromewebdata/')
    const tries = [
      `fetch('${gateway}/phone').then((it) => it.text())`,
      `fetch('${gateway}/Sync.json', { credentials: 'omit' }).then((it) => it.text())`,
      `fetch('${gateway}/phone/tickets', { method: 'POST' }).then((it) => it.text())`,
      `import('${gateway}/phone/account.js')`,
    ]
    for (const one of tries) {
      assert.equal(await page.evaluate(`${one}.catch(() => 'nothing')`), 'nothing', one)
    }
  })
})
