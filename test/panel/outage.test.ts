import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { deviceRow, isFocused, openPanel, startDaemon, type OpenPanel } from './support/panel.ts'

/** Starts the daemon again, where it was. */
function restart(t: Parameters<typeof startDaemon>[0], { daemon }: OpenPanel) {
  const { gateway, control } = daemon.ready
  const { host: listen } = new URL(gateway)
  const args = ['--clipboard', 'none', '--listen', listen, '--control', new URL(control).host]
  return startDaemon(t, { folder: daemon.folder, args })
}

describe('while the daemon is away, the panel', needs('chromium'), () => {
  it('says so, asks nothing of it, and is back with it, still signed in', async (t) => {
    const panel = await openPanel(t)
    const { page, daemon } = panel
    const phone = createPhone(await daemon.pair('Pixel'), daemon.ready.gateway)
    await phone.pushText('from before')
    await page.getByText('from before', { exact: true }).waitFor()
    const add = page.getByRole('button', { name: 'Add a device' })
    await add.focus()

    assert.equal(await daemon.stop(), 0)
    await page.getByRole('heading', { name: 'The daemon does not answer' }).waitFor()
    await page.getByText('Daemon away', { exact: true }).waitFor()
    assert.equal(await add.getAttribute('aria-disabled'), 'true')
    assert.equal(await isFocused(add), true)
    await page.keyboard.press('Enter')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await deviceRow(page, 'Pixel').waitFor()

    await restart(t, panel)
    await page.getByText('Live', { exact: true }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'The daemon does not answer' }).count(), 0)
    assert.equal(await add.getAttribute('aria-disabled'), null)
    await phone.pushText('from after')
    await page.getByText('from after', { exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Add a device' }).waitFor()
    panel.assertCalm()
  })

  it('goes on waiting when it was killed in the middle of adding a device', async (t) => {
    const panel = await openPanel(t)
    const { page, daemon } = panel
    await page.getByRole('button', { name: 'Add a device' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Patient phone')
    daemon.child.kill('SIGKILL')
    const submit = dialog.getByRole('button', { name: 'Show QR code' })
    await page.getByText('Daemon away', { exact: true }).waitFor()
    assert.equal(await submit.getAttribute('aria-disabled'), 'true')
    await restart(t, panel)
    await page.getByText('Live', { exact: true }).waitFor()
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Patient phone')
    await submit.click()
    await dialog.getByText('Waiting for the first request of Patient phone').waitFor()
    panel.assertCalm()
  })
})
