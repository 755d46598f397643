import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../support/requirements.ts'
import { openPanel } from './support/panel.ts'

describe('the daemon in the panel', needs('chromium'), () => {
  it('has addresses that phones can use, and never that of all', async (t) => {
    const args = ['--clipboard', 'none', '--listen', '0.0.0.0:0']
    const { page, daemon } = await openPanel(t, { args })
    const { stdout } = await daemon.run('pair', '--label', 'Pixel', '--json')
    const { url } = JSON.parse(stdout)
    const card = page.getByRole('region', { name: 'This computer' })
    await card.getByText(url, { exact: true }).waitFor()
    assert.equal(await card.getByText('0.0.0.0').count(), 0)
  })
})
