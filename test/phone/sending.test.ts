import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../support/requirements.ts'
import { openPhonePage } from './support/phone-page.ts'

describe('the phone page', needs('chromium'), () => {
  it('sends a text, and several files one after the other', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    await page.getByRole('textbox').fill('from the phone')
    await page.getByRole('button', { name: 'Send', exact: true }).tap()
    await page.getByText('Sent', { exact: true }).waitFor()
    await other.reads({ text: 'from the phone' })
    // Given as bytes: Chromium finds no file of such a name where the locale is that of no language.
    const files = [
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('the first') },
      { name: 'zwei ä.bin', mimeType: '', buffer: Buffer.alloc(3_000_000, 'x') },
    ]
    await page.locator('input[type=file]').first().setInputFiles(files)
    await other.reads({ dataName: 'zwei ä.bin' })
    assert.deepEqual(await other.download(), files[1]?.buffer)
    await page.getByRole('listitem').nth(1).getByText('Sent').waitFor()
    assertCalm()
  })

  it('shows how far each file is, and takes those out of the list that are cancelled', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    // Nobody answers for the film.
    await page.route('**/file/film.mp4', () => undefined)
    const buffer = Buffer.alloc(50_000, 'x')
    const files = ['film.mp4', 'photo.jpg'].map((name) => ({ name, mimeType: 'x/y', buffer }))
    await page.locator('input[type=file]').first().setInputFiles(files)
    await page.getByRole('listitem').first().getByText('0 bytes of 49 KiB').waitFor()
    await page.getByRole('listitem').nth(1).getByText('Waiting').waitFor()
    await page.getByRole('button', { name: 'Cancel: film.mp4' }).tap()
    await other.reads({ dataName: 'photo.jpg' })
    await page.getByRole('listitem').getByText('Sent').waitFor()
    assert.equal(await page.getByRole('listitem').count(), 1)
    await page.getByRole('button', { name: 'Remove from the list: photo.jpg' }).tap()
    assert.equal(await page.getByRole('listitem').count(), 0)
    assertCalm()
  })

  it('sends files that are pasted, and those that are dropped', async (t) => {
    const { page, other } = await openPhonePage(t)
    const give = (type: string) => `{
      const given = new DataTransfer()
      given.items.add(new File(['${type}'], '${type}.txt'))
      const init = { bubbles: true, cancelable: true, clipboardData: given, dataTransfer: given }
      const event = '${type}' === 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('drop', init)
      document.querySelector('textarea').dispatchEvent(event)
    }`
    for (const type of ['paste', 'drop']) {
      await page.evaluate(give(type))
      await other.reads({ dataName: `${type}.txt` })
      assert.equal(String(await other.download()), type)
    }
    assert.equal(await page.locator('input[capture=environment][accept="image/*"]').count(), 1)
  })

  it('says what keeps the computer from taking something', async (t) => {
    const { page } = await openPhonePage(t)
    const rows = [
      [413, 'too large for the computer'],
      [429, 'The computer is busy'],
      [507, 'The disk of the computer is full'],
      [500, 'clipgate doctor'],
    ] as const
    for (const [status, words] of rows) {
      await page.route('**/Sync.json', (route) => {
        return route.request().method() === 'PUT' ? route.fulfill({ status }) : route.continue()
      })
      await page.getByRole('textbox').fill('a text')
      await page.getByRole('button', { name: 'Send', exact: true }).tap()
      await page.getByText(words).waitFor()
      assert.equal(await page.getByRole('textbox').inputValue(), 'a text')
      await page.unroute('**/Sync.json')
    }
  })

  it('breaks off what it sends when the phone is forgotten', async (t) => {
    const { page } = await openPhonePage(t)
    // Nobody answers for the film.
    await page.route('**/file/film.mp4', () => undefined)
    const film = { name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(50_000, 'x') }
    const begun = page.waitForRequest('**/file/film.mp4')
    await page.locator('input[type=file]').first().setInputFiles([film])
    await begun
    const ended = page.waitForEvent('requestfailed', (one) => one.url().endsWith('film.mp4'))
    await page.getByRole('button', { name: 'Forget this phone' }).tap()
    await page.getByRole('button', { name: 'Tap again' }).tap()
    assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED')
  })
})
