import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { restart, startDaemon } from '../panel/support/panel.ts'
import { needs } from '../support/requirements.ts'
import { openPhonePage } from './support/phone-page.ts'

describe('a phone page whose address another computer has', needs('chromium'), () => {
  it('says so, keeps its credentials and files, and goes on when its own has it again', async (t) => {
    const { page, daemon, device, other, assertCalm } = await openPhonePage(t)
    const kept = () => page.evaluate<string>(`localStorage.getItem('clipgate.phone')`)
    const before = await kept()
    const { host } = new URL(daemon.ready.gateway)
    assert.equal(await daemon.stop(), 0)
    const args = ['--clipboard', 'none', '--listen', host]
    const stranger = await startDaemon(t, { args, devices: ['Pixel'] })
    await page.getByText('Another clipgate has this address now').waitFor()
    await page.locator('[data-way=away]').waitFor()
    const told: string[] = []
    page.on('request', (request) => {
      const { authorization } = request.headers()
      if (authorization !== undefined) told.push(request.url())
    })

    const card = page.locator('section', { has: page.getByRole('textbox') })
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') }
    await page.locator('input[type=file]').first().setInputFiles(notes)
    await card.getByText('Waiting for the computer, 0 % sent').waitFor()
    await page.getByRole('textbox').fill('not for everybody')
    await card.getByRole('button', { name: 'Send', exact: true }).tap()
    await card.getByText('Another clipgate has this address now').waitFor()
    assert.equal(await kept(), before)
    assert.deepEqual(told, [])

    assert.equal(await stranger.stop(), 0)
    const own = await restart(t, daemon)
    await page.locator('[data-way=live]').waitFor()
    await card.getByText('Sent', { exact: true }).waitFor()
    assert.equal((await other.download()).toString(), 'notes')
    await card.getByText('Not sent yet').waitFor()
    assert.equal(await page.getByRole('textbox').inputValue(), 'not for everybody')
    assert.equal(await page.getByText('Another clipgate').count(), 0)
    assertCalm()

    await own.run('revoke', device.id)
    await page.getByText('This phone was disconnected').waitFor()
    assert.equal(await kept(), null)
  })
})
