import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { openPhonePage } from './support/phone-page.ts'

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
