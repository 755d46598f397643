import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../support/requirements.ts'
import { openPanel } from './support/panel.ts'

/** How many lines the longest address of IPv4 takes in an element, which has it afterwards. */
function linesOfLongest(element: unknown): number {
  const shown = Object(element)
  shown.textContent = 'http://255.255.255.255:65535'
  const { lineHeight } = shown.ownerDocument.defaultView.getComputedStyle(shown)
  return Math.round(shown.getBoundingClientRect().height / Number.parseFloat(lineHeight))
}

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
})
