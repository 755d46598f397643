import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { passUntil } from '../phone/support/phone-page.ts'
import { needs } from '../support/requirements.ts'
import { deviceRow, enter, holdRequests, isFocused, openPanel, restart } from './support/panel.ts'

describe('while the daemon is away, the panel', needs('chromium'), () => {
  it('says what to do where its script was lost on the way', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    await page.route('**/panel.js', (route) => route.abort('internetdisconnected'))
    await page.reload()
    const words = page.getByText('If it stays so, reload it')
    assert.equal(await words.isVisible(), false)
    await page.evaluate('document.getAnimations().forEach((one) => one.finish())')
    assert.equal(await words.isVisible(), true)
    await page.unroute('**/panel.js')
    await enter(page, daemon)
    assert.equal(await words.count(), 0)
    assertCalm()
  })

  it('says so, asks nothing of it, and wants to be opened again when it is back', async (t) => {
    const { page, daemon, assertCalm, pairPhone } = await openPanel(t)
    const phone = await pairPhone('Pixel')
    await phone.pushText('from before')
    await page.getByText('from before', { exact: true }).waitFor()
    const add = page.getByRole('button', { name: 'Add a device' })
    const typed = page.locator('textarea')
    await typed.fill('half a thought')
    await page.route('**/clipboard/file/*', (route) => route.abort())
    const film = { name: 'film.mp4', mimeType: '', buffer: Buffer.alloc(10) }
    await page.locator('input[type=file]').setInputFiles(film)
    await page.getByText('Waiting for clipgate. It goes on by itself.').waitFor()
    const notes = { name: 'notes.txt', mimeType: '', buffer: Buffer.alloc(10) }
    await page.locator('input[type=file]').setInputFiles(notes)
    await add.focus()

    assert.equal(await daemon.stop(), 0)
    await page.getByRole('heading', { name: 'clipgate does not answer' }).waitFor()
    await page.getByText('No answer', { exact: true }).waitFor()
    assert.equal(await add.getAttribute('aria-disabled'), 'true')
    assert.equal(await isFocused(add), true)
    await page.keyboard.press('Enter')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await deviceRow(page, 'Pixel').waitFor()

    const second = await restart(t, daemon)
    await page.getByText('Not signed in', { exact: true }).waitFor()
    await page.getByText('clipgate panel', { exact: true }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'clipgate does not answer' }).count(), 0)
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    assert.equal(await typed.isVisible(), true)
    assert.equal(await typed.inputValue(), 'half a thought')
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.getByText('film.mp4: This page is no longer signed in.').waitFor()
    await page.getByText('notes.txt: This page is no longer signed in.').waitFor()
    // From now on it sends nothing, whatever is done to it.
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.reload()
    await page.getByText('clipgate panel', { exact: true }).waitFor()
    assert.ok(!asked.includes('/events'), asked.join())

    await enter(page, second)
    assert.equal(await add.getAttribute('aria-disabled'), null)
    await phone.pushText('from after')
    await page.getByText('from after', { exact: true }).waitFor()
    assertCalm()
  })

  it('says so where it takes connections and says nothing any more', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    await page.clock.install()
    await enter(page, daemon)
    daemon.child.kill('SIGSTOP')
    const away = page.getByText('No answer', { exact: true })
    for (let seconds = 0; seconds < 60; seconds += 1) await page.clock.runFor(1000)
    const isSaid = await away.isVisible()
    daemon.child.kill('SIGCONT')
    assert.equal(isSaid, true)
    await passUntil(page, page.getByText('Connected', { exact: true }).waitFor())
    assertCalm()
  })

  it('says that it connects when it is looked at again, until an answer comes', async (t) => {
    const { page, assertCalm } = await openPanel(t)
    const release = await holdRequests(page, '**/state')
    // What browsers say; a Chromium without a window is never hidden, and so never says it.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('Connecting…', { exact: true }).waitFor()
    // Nothing says that the daemon is away: it can be asked.
    const add = page.getByRole('button', { name: 'Add a device' })
    assert.equal(await add.getAttribute('aria-disabled'), null)
    release()
    await page.getByText('Connected', { exact: true }).waitFor()
    assertCalm()
  })

  it('goes on waiting when it was killed in the middle of adding a device', async (t) => {
    const { page, daemon, assertCalm } = await openPanel(t)
    await page.getByRole('button', { name: 'Add a device' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Patient phone')
    daemon.child.kill('SIGKILL')
    const submit = dialog.getByRole('button', { name: 'Show QR code' })
    await page.getByText('No answer', { exact: true }).waitFor()
    assert.equal(await submit.getAttribute('aria-disabled'), 'true')
    const second = await restart(t, daemon)
    await page.getByText('Not signed in', { exact: true }).waitFor()
    assert.equal(await dialog.count(), 0)
    assert.equal((await second.run('devices', '--json')).stdout.trim(), '[]')
    assertCalm()
  })
})
