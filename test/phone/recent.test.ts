import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { describe, it } from 'node:test'
import { openPage } from '../panel/support/browser.ts'
import { readObject } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import { openPhonePage } from './support/phone-page.ts'

const [COMPUTER = ''] = hostname().split('.')

describe('the phone page', needs('chromium', 'Xvfb'), () => {
  it('says which computer it is, and from whom and when the item is', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t, { locale: 'en-GB' })
    await page.getByRole('heading', { name: COMPUTER, exact: true }).waitFor()
    await other.pushText('hello')
    await page.getByText('hello', { exact: true }).waitFor()
    // As clocks are read there, whatever language the page is in.
    const activatedAt = await page.evaluate<number>('new Date(2026, 1, 3, 9, 5).getTime()')
    await page.clock.setFixedTime(activatedAt)
    await page.route('**/phone/state', async (route) => {
      const state = await readObject(await other.fetch('/phone/state'))
      const item = { ...Object(state['item']), activatedAt }
      await route.fulfill({ json: { ...state, item } })
    })
    await other.pushText('hello again')
    await page.getByText('from Other, 09:05', { exact: true }).waitFor()
    assertCalm()
  })

  it('tells the time where a browser says what is no language', async (t) => {
    const { address, other } = await openPhonePage(t)
    await other.pushText('hello')
    const state = await readObject(await other.fetch('/phone/state'))
    for (const [language, clock] of [
      ['en_GB', /^from Other, Feb 3, 21:05$/],
      ['de-DE@euro', /^from Other, Feb 3, 21:05$/],
      ['no-NO-NY', /^from Other, Feb 3, 21:05$/],
      ['C', /^from Other, Feb 3, 09:05\sPM$/],
      ['', /^from Other, Feb 3, 09:05\sPM$/],
    ] as const) {
      const { page, assertCalm } = await openPage({ locale: 'en-US' })
      t.after(() => page.context().close())
      const told = `{ get: () => ${JSON.stringify(language)} }`
      await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', ${told})`)
      await page.route('**/phone/state', async (route) => {
        const at = await page.evaluate<number>('new Date(2026, 1, 3, 21, 5).getTime()')
        const item = { ...Object(state['item']), activatedAt: at }
        await route.fulfill({ json: { ...state, item } })
      })
      await page.goto(address)
      await page.getByText(clock).waitFor()
      assertCalm()
    }
  })

  it('shows the last items when somebody asks, and gives each', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const recent = page.getByText('Recent items')
    assert.equal(await recent.isVisible(), false)
    const text = 'first <b>line</b>\nsecond'
    await other.pushText(text)
    await other.pushFile('File', 'notes <i>.txt', Buffer.from('some notes'))
    const picture = await readFile(new URL('../../docs/images/away-dark.png', import.meta.url))
    await other.pushFile('Image', 'shot.png', picture)
    await other.pushText('the last')
    await recent.tap()
    const rows = page.getByRole('listitem')
    await rows.nth(2).getByText('first <b>line</b>').waitFor()
    assert.equal(await rows.count(), 3)

    await rows.nth(2).getByText('first <b>line</b>').tap()
    await rows.nth(2).getByRole('button', { name: 'Copy' }).tap()
    await rows.nth(2).getByRole('button', { name: 'Copied' }).waitFor()
    const field = page.getByRole('textbox')
    await field.focus()
    await page.keyboard.press('Control+V')
    assert.equal(await field.inputValue(), text)

    await rows.nth(1).getByText('notes <i>.txt').tap()
    const started = page.waitForEvent('download')
    await rows.nth(1).getByRole('link', { name: 'Save' }).tap()
    const download = await started
    assert.equal(String(await readFile(await download.path())), 'some notes')
    await rows.nth(0).getByText('shot.png').tap()
    await rows.nth(0).getByRole('img').waitFor()

    // What is open stays open when something newer comes.
    await other.pushText('newer still')
    await rows.nth(3).waitFor()
    assert.equal(await rows.nth(1).getByRole('img').isVisible(), true)
    assertCalm()
  })

  it('shows none where nobody wants that', async (t) => {
    const args = ['--clipboard', 'none', '--phone-recent', 'off']
    const { page, other } = await openPhonePage(t, {}, { args })
    await other.pushText('first')
    await other.pushText('second')
    await page.getByText('second', { exact: true }).waitFor()
    await page.getByText('from Other').waitFor()
    assert.equal(await page.getByText('Recent items').isVisible(), false)
  })

  // Protocol: While sharing is paused on the computer `paused` is true
  it('says that the computer has paused sharing, while it has', async (t) => {
    const { display } = await Xvfb.start(t)
    const { page, daemon } = await openPhonePage(t, {}, { args: [], env: { DISPLAY: display } })
    const paused = page.getByText('The computer has paused sharing')
    assert.equal(await paused.isVisible(), false)
    await daemon.run('pause')
    await paused.waitFor()
    await daemon.run('resume')
    await paused.waitFor({ state: 'hidden' })
  })
})
